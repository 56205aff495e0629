import AsyncBluetooth
import BluetoothEmulator
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothTesting
import VirtualTasks

/// A test's emulated world, in virtual time, and a client in it.
struct ProfileStage: Sendable {
    let emulator: Emulator
    private let tasks: HoldingExecutor

    /// In the emulator of the test that runs.
    init() {
        emulator = Emulator.current
        tasks = HoldingExecutor(emulator)
    }

    /// Runs `body` while virtual time goes on.
    func play<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await tasks.play(body)
    }

    /// Finds the device that advertises a service.
    func find(_ service: CBUUID) async throws -> Peripheral {
        let central = Central(backend: .emulator(emulator), taskExecutor: tasks)
        return try await play {
            for try await found in central.scan(for: [service]) { return found.peripheral }
            throw CancellationError()
        }
    }

    /// Puts a device with these servers on the air and finds it.
    func simulate(
        _ servers: any ProfileServer..., onEvent: (@Sendable (SimulatedDevice.Event) -> Void)? = nil
    ) async throws -> (SimulatedDevice, Peripheral) {
        let device = SimulatedDevice(
            name: "Simulated", servers: servers, advertising: servers.prefix(1).map(\.service), onEvent: onEvent)
        let emulator = emulator
        try await play { try await device.start(on: .emulator(emulator)) }
        return (device, try await find(servers[0].service))
    }
}

/// The ATT error code that a device refused an operation with.
func attCode(_ error: (any Error)?) -> Int? {
    guard case .refused(let cause)? = (error as? BluetoothError)?.reason else { return nil }
    return (cause as? CBATTError)?.code.rawValue
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// The first values.
    func first(_ count: Int) async throws -> [Element] {
        var values: [Element] = []
        for try await value in self {
            values.append(value)
            if values.count == count { break }
        }
        return values
    }
}
