import AsyncBluetooth
import BluetoothEmulator
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothTesting

/// A test's emulated world, in virtual time, and a client in it.
struct ProfileFixture: Sendable {
    /// The emulator of the running test.
    let emulator = Emulator.current

    /// Finds the device that advertises a service.
    func find(_ service: CBUUID) async throws -> Peripheral {
        try await emulator.run {
            for try await found in Central().scan(for: [service]) { return found.peripheral }
            throw CancellationError()
        }
    }

    /// Adds a device with these servers and finds it.
    func simulate(
        _ servers: any ProfileServer..., onEvent: (@Sendable (SimulatedDevice.Event) -> Void)? = nil
    ) async throws -> (SimulatedDevice, Peripheral) {
        let device = SimulatedDevice(
            name: "Simulated", servers: servers, advertising: servers.prefix(1).map(\.service), onEvent: onEvent)
        try await emulator.run { try await device.start() }
        return (device, try await find(servers[0].service))
    }
}

/// Returns the ATT error code with which a device refused an operation.
func attCode(_ error: (any Error)?) -> Int? {
    guard case .refused(let cause)? = (error as? BluetoothError)?.reason else { return nil }
    return (cause as? CBATTError)?.code.rawValue
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Returns the first values.
    func first(_ count: Int) async throws -> [Element] {
        var values: [Element] = []
        for try await value in self {
            values.append(value)
            if values.count == count { break }
        }
        return values
    }
}
