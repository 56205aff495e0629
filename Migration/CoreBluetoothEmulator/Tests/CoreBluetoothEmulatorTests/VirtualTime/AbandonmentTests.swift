import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothEmulator

@MainActor
@Suite(.emulator(.instant, allowing: .unansweredCommands)) struct AbandonmentTests {
    @Test func `who waits on the bus hears of a manager's end`() async throws {
        let world = VirtualWorld()
        let manager = try await world.advertise()
        let peripheral = try await world.connect()
        manager.place.host.peripheral?.inject(DeviceFault(.read, .pause))
        let errors = Recorder()
        peripheral.read(world.served) { outcome in
            if case .failed(let error) = outcome { errors.errors["read"] = error }
        }
        try await world.emulator.advance(by: .seconds(1))
        #expect(errors.errors.isEmpty)
        world.releasePhone()
        #expect((errors.errors["read"] as? CBError)?.code == .notConnected)
        #expect(peripheral.state == .disconnected)
    }

    @Test func `who publishes a channel hears that the adapter is off`() async throws {
        var configuration = CoreBluetoothEmulator.EmulatorConfiguration.instant
        configuration.l2capSupported = true
        let world = VirtualWorld(configuration)
        let manager = try await world.advertise()
        manager.place.host.setPower(false)
        let errors = Recorder()
        manager.publishChannel(withEncryption: false) { result in
            if case .failure(let error) = result { errors.errors["publish"] = error }
        }
        try await world.emulator.runUntilIdle()
        #expect((errors.errors["publish"] as? CBError)?.code == .operationCancelled)
    }

    @Test func `a central manager that is off does not connect over the bus`() async throws {
        let world = VirtualWorld()
        let manager = try await world.advertise()
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        phone.place.host.remember(try #require(manager.place.host.peripheral))
        phone.place.host.setPower(false)
        let (a, b) = (phone.identifier, manager.identifier)
        await #expect(throws: CBError.self) {
            try await world.emulator.run {
                try await EmulatorBus.shared.connect(centralIdentifier: a, peripheralIdentifier: b)
            }
        }
    }
}
