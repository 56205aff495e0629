import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothEmulator

@MainActor
@Suite(.serialized, .emulator(.instant)) struct LogTests {
    @Test func `a scan without services is logged while the background is simulated`() async throws {
        var configuration = CoreBluetoothEmulator.EmulatorConfiguration.instant
        let world = VirtualWorld(configuration)
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        try await world.emulator.runUntilIdle()
        let text = "finds nothing while an app is in the background"
        var count = await CapturedLog.count(of: text) { phone.scanForPeripherals(withServices: nil) }
        #expect(count == 0)
        configuration.backgroundModeEnabled = true
        CoreBluetoothEmulator.Emulator.configure(configuration)
        count = await CapturedLog.count(of: text) {
            phone.scanForPeripherals(withServices: [VirtualWorld.service])
            phone.scanForPeripherals(withServices: [])
        }
        #expect(count == 1)
    }

    @Test func `a key that iOS does not advertise is logged once`() async throws {
        let world = VirtualWorld()
        let manager = EmulatedCBPeripheralManager(delegate: world.server, queue: nil)
        try await world.emulator.runUntilIdle()
        let count = try await CapturedLog.count(of: "warning: iOS does not advertise test-key") {
            for _ in 0..<2 {
                manager.startAdvertising(["test-key": 1])
                try await world.emulator.runUntilIdle()
                manager.stopAdvertising()
            }
        }
        #expect(count == 1)
    }

    @Test func `peripherals and attributes of others are logged and ignored`() async throws {
        let world = VirtualWorld()
        try await world.advertise()
        let peripheral = try await world.connect()
        let other = EmulatedCBCentralManager(delegate: nil, queue: nil)
        let stranger = EmulatedCBMutableCharacteristic(
            type: CBUUID(string: "9999"), properties: .read, value: nil, permissions: .readable)
        let count = await CapturedLog.count(of: "API MISUSE") {
            other.connect(peripheral)
            other.cancelPeripheralConnection(peripheral)
            peripheral.readValue(for: stranger)
            world.manager?.updateValue(Data(), for: stranger, onSubscribedCentrals: nil)
        }
        #expect(count == 4)
        #expect(peripheral.state == .connected)
    }

    @Test func `an advertisement that no packet has room for arrives all the same`() async throws {
        let world = VirtualWorld()
        let manager = EmulatedCBPeripheralManager(delegate: world.server, queue: nil)
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        try await world.emulator.runUntilIdle()
        phone.scanForPeripherals(withServices: nil)
        let data = Data(repeating: 1, count: 300)
        let count = await CapturedLog.count(of: "advertised with name and services only") {
            manager.startAdvertising([CBAdvertisementDataManufacturerDataKey: data])
        }
        #expect(count == 1)
        await world.emulator.expect(.didDiscover)
        #expect(world.app.discovered.first?.data[CBAdvertisementDataManufacturerDataKey] as? Data == data)
    }
}
