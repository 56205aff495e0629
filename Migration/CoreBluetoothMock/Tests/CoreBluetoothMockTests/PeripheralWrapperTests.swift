import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

@Suite(.emulator()) struct PeripheralWrapperTests {
    private let emulator = Emulator.current

    @Test func `A native manager serves over the selected backend`() async throws {
        let app = Peripheral { CBMPeripheralManagerNative(delegate: $0) }
        try await emulator.advance(by: .seconds(1))
        app.manager.add(app.service)
        app.manager.startAdvertising([CBMAdvertisementDataServiceUUIDsKey: [app.service.uuid]])
        let client = Client { CBMCentralManagerNative(delegate: $0, queue: nil) }
        try await emulator.advance(by: .seconds(1))
        let found = Protected<(any CBMPeripheral)?>(nil)
        let proxy = CBMCentralManagerDelegateProxy()
        proxy.didDiscoverPeripheral = { manager, peripheral, _, _ in
            found.withLock { $0 = peripheral }
            manager.connect(peripheral)
        }
        client.manager.delegate = proxy
        client.manager.scanForPeripherals(withServices: [app.service.uuid])
        try await emulator.advance(by: .seconds(1))
        client.manager.stopScan()
        let peripheral = try #require(found.withLock { $0 })
        _ = try await client.explore(peripheral)
        peripheral.delegate = client
        let characteristic = try #require(peripheral.characteristic)
        peripheral.setNotifyValue(true, for: characteristic)
        peripheral.readValue(for: characteristic)
        try await emulator.runUntilIdle()
        #expect(client.take() == ["notifying true", "value 1 2 3"])
        #expect(app.take() == ["state poweredOn", "added FF00", "advertising", "subscribed", "read 0"])
        let central = try #require(app.state.withLock { $0.centrals.first } as? CBMCentralNative)
        #expect(central.central.identifier == central.identifier)
    }

    @Test func `Attributes keep their lists, and descriptors their values`() {
        let text = CBMMutableDescriptor(type: CBMUUID(string: "2901"), value: "Text")
        let characteristic = CBMMutableCharacteristic(
            type: CBMUUID(string: "FF01"), properties: .read, value: nil, permissions: .readable)
        characteristic.descriptors = [text]
        characteristic.permissions = [.readable, .writeable]
        characteristic.properties = [.read, .write]
        characteristic.value = Data([1])
        #expect(text.value as? String == "Text" && text.characteristic === characteristic)
        #expect(characteristic.permissions == [.readable, .writeable] && characteristic.properties == [.read, .write])
        #expect(characteristic.value == Data([1]) && characteristic.descriptors == [text])
        let (inner, outer) = (
            CBMMutableService(type: CBMUUID(string: "FF00"), primary: false),
            CBMMutableService(type: CBMUUID(string: "FE00"), primary: true)
        )
        outer.includedServices = [inner]
        outer.characteristics = [characteristic]
        #expect(outer.includedServices == [inner] && characteristic.service === outer)
        outer.characteristics = nil
        #expect(outer.characteristics == nil && characteristic.service == nil)
    }

    @Test func `A value that needs encryption is served after a pairing`() async throws {
        let app = try await Peripheral.published()
        let service = CBMMutableService(type: CBMUUID(string: "FC00"), primary: true)
        let secret = CBMMutableCharacteristic(
            type: CBMUUID(string: "FC01"), properties: .read, value: nil, permissions: .readEncryptionRequired)
        service.characteristics = [secret]
        app.manager.add(service)
        let central = CBMCentralSpec()
        central.simulateConnection()
        let value = Protected<Data?>(nil)
        central.simulateReadRequest(for: secret) { result in
            if case .success(let data) = result { value.withLock { $0 = data } }
        }
        try await emulator.advance(by: .seconds(5))
        #expect(value.withLock { $0 } == Data([1, 2, 3]))
        #expect(app.take() == ["added FC00", "read 0"])
    }
}
