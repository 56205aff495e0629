import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

/// The wrappers over a world of the emulator's devices, as over any backend.
@Suite(.emulator(.default, world: WorldDescription(devices: [.heartRateMonitor, .echo]))) struct WrapperTests {
    private let emulator = Emulator.current

    /// Returns a client with a native manager, whose backend is the task's emulator.
    private func nativeClient(_ options: [String: Any]? = nil) async throws -> Client {
        let client = Client { CBMCentralManagerNative(delegate: $0, queue: nil, options: options) }
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["state poweredOn"])
        #expect(client.manager.state == .poweredOn && client.manager.authorization == .allowedAlways)
        return client
    }

    /// Returns a connected device of the emulator, with the peripheral's lists filled.
    private func explored(_ client: Client, offering service: String) async throws -> CBMPeripheralNative {
        let proxy = CBMCentralManagerDelegateProxy()
        let found = Protected<(any CBMPeripheral)?>(nil)
        proxy.didDiscoverPeripheral = { _, peripheral, _, _ in found.withLock { $0 = peripheral } }
        client.manager.delegate = proxy
        client.manager.scanForPeripherals(withServices: service == "180D" ? [CBMUUID(string: service)] : nil)
        try await emulator.advance(by: .seconds(1))
        client.manager.stopScan()
        client.manager.delegate = client
        let peripheral = try #require(found.withLock { $0 } as? CBMPeripheralNative)
        client.manager.connect(peripheral)
        try await emulator.advance(by: .seconds(3))
        return peripheral
    }

    @Test func `A native manager scans, connects and discovers over the selected backend`() async throws {
        let client = try await nativeClient()
        let peripheral = try await explored(client, offering: "180D")
        #expect(client.take() == ["connected"])
        peripheral.delegate = client
        #expect(peripheral.peripheral.identifier == peripheral.identifier)
        #expect(peripheral.name == peripheral.peripheral.name && peripheral.state == .connected)
        #expect(!peripheral.ancsAuthorized && peripheral.canSendWriteWithoutResponse)
        #expect(peripheral.maximumWriteValueLength(for: .withResponse) == 512)
        peripheral.discoverServices([CBMUUID(string: "180D")])
        try await emulator.runUntilIdle()
        let service = try #require(peripheral.services?.first)
        peripheral.discoverCharacteristics([CBMUUID(string: "2A37")], for: service)
        try await emulator.runUntilIdle()
        let characteristic = try #require(service.characteristics?.first)
        peripheral.discoverDescriptors(for: characteristic)
        try await emulator.runUntilIdle()
        #expect(characteristic.descriptors?.map(\.uuid.uuidString) == ["2902"])
        #expect(client.take() == ["services", "characteristics", "descriptors"])
        peripheral.setNotifyValue(true, for: characteristic)
        try await emulator.advance(by: .seconds(3))
        #expect(client.take().first == "notifying true")
        #expect(characteristic.isNotifying && characteristic.value != nil)
        peripheral.readRSSI()
        try await emulator.advance(by: .seconds(1))
        #expect(client.rssis.count == 1)
        client.manager.cancelPeripheralConnection(peripheral)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take().last == "disconnected")
        #expect(peripheral.services == nil)
    }

    @Test func `A manager has one wrapper for each peripheral, service and characteristic`() async throws {
        let client = try await nativeClient()
        let peripheral = try await explored(client, offering: "180D")
        let again = client.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier])
        #expect(again.count == 1 && again.first === peripheral)
        let connected = client.manager.retrieveConnectedPeripherals(withServices: [CBMUUID(string: "180D")])
        #expect(connected.first === peripheral)
        peripheral.discoverServices(nil)
        try await emulator.runUntilIdle()
        let services = try #require(peripheral.services)
        peripheral.discoverCharacteristics(nil, for: services[0])
        try await emulator.runUntilIdle()
        #expect(zip(services, peripheral.services ?? []).allSatisfy { $0 === $1 })
        #expect(services[0].characteristics?.first === services[0].characteristics?.first)
        #expect(services[0].peripheral === peripheral)
        #expect(peripheral.description == peripheral.peripheral.description)
    }

    @Test func `A native manager answers for the selected backend`() {
        #expect(CBMCentralManagerNative.authorization == CBCentralManager.authorization)
        #expect(CBMCentralManagerNative.supports(.extendedScanAndConnect))
        #expect(CBMCentralManagerNative().delegate == nil)
        #expect(CBMCentralManagerNative(delegate: nil, queue: .main).state == .unknown)
    }

    @Test func `A mock manager finds the emulator's own devices, under their identifiers`() async throws {
        let client = Client()
        try await emulator.advance(by: .seconds(1))
        client.manager.scanForPeripherals(withServices: [CBMUUID(string: "180D")])
        try await emulator.advance(by: .seconds(1))
        let device = try #require(emulator.device(named: PeripheralDescription.heartRateMonitor.name))
        let identifier = try #require(device.identifier()?.uuid)
        #expect(client.manager.retrievePeripherals(withIdentifiers: [identifier]).map(\.identifier) == [identifier])
    }

    @Test func `An attribute that was not discovered at a peripheral is ignored`() async throws {
        let client = try await nativeClient()
        let peripheral = try await explored(client, offering: "180D")
        peripheral.delegate = client
        _ = client.take()
        let service = Sensor.simpleService()
        let characteristic = try #require(service.mocks.first)
        peripheral.discoverCharacteristics(nil, for: service)
        peripheral.discoverIncludedServices(nil, for: service)
        peripheral.discoverDescriptors(for: characteristic)
        peripheral.readValue(for: characteristic)
        peripheral.readValue(for: characteristic.mocks[0])
        peripheral.writeValue(Data(), for: characteristic, type: .withResponse)
        peripheral.writeValue(Data(), for: characteristic.mocks[0])
        peripheral.setNotifyValue(true, for: characteristic)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == [])
    }
}

@Suite struct GateTests {
    private final class Owner {
        let calls = Protected<[Int]>([])
    }

    @Test func `Callbacks before the end of an initializer are kept, and pass first and in their order`() {
        let (gate, owner, queue) = (Gate<Owner>(), Owner(), DispatchQueue(label: "queue of the test"))
        queue.sync {
            for number in 0..<3 { gate.pass { $0.calls.withLock { $0.append(number) } } }
            gate.open(for: owner, on: queue)
            gate.pass { $0.calls.withLock { $0.append(3) } }
            #expect(owner.calls.withLock { $0 } == [])
        }
        queue.sync { gate.pass { $0.calls.withLock { $0.append(4) } } }
        #expect(owner.calls.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    @Test func `Callbacks for an owner that is gone are dropped`() {
        let gate = Gate<Owner>()
        do {
            let owner = Owner()
            gate.open(for: owner, on: nil)
        }
        var isCalled = false
        gate.pass { _ in isCalled = true }
        #expect(!isCalled)
    }
}

@Suite struct BaseClassTests {
    /// A fake that a client defines.
    private final class Fake: CBMCentralManager {
        var connected: [UUID] = []
        override var state: CBMManagerState { .poweredOn }
        override func connect(_ peripheral: any CBMPeripheral, options: [String: Any]? = nil) {
            connected.append(peripheral.identifier)
            delegate?.centralManager(self, didConnect: peripheral)
        }
    }

    @Test func `The base manager does nothing`() {
        let manager = CBMCentralManager(true)
        #expect(manager.state == .unknown && !manager.isScanning && manager.delegate == nil)
        manager.scanForPeripherals(withServices: nil)
        manager.stopScan()
        manager.registerForConnectionEvents()
        #expect(manager.retrievePeripherals(withIdentifiers: [UUID()]).isEmpty)
        #expect(manager.retrieveConnectedPeripherals(withServices: []).isEmpty)
    }

    @Test func `A client's own fake takes the place of a manager`() {
        let (fake, delegate) = (Fake(true), CBMCentralManagerDelegateProxy())
        fake.delegate = delegate
        var connected: [UUID] = []
        delegate.didConnect = { connected.append($1.identifier) }
        let preview = CBMPeripheralPreview(Sensor().spec())
        fake.connect(preview)
        fake.cancelPeripheralConnection(preview)
        #expect(connected == [preview.identifier] && fake.connected == connected)
    }

    @Test func `Values are those of CoreBluetooth, and states have its raw values`() {
        #expect(CBMUUID(string: "180D") == CBUUID(string: "180D"))
        #expect((CBMError(.connectionFailed) as any Error) is CBError)
        #expect(CBMAdvertisementDataLocalNameKey == CBAdvertisementDataLocalNameKey)
        #expect(CBMConnectPeripheralOptionEnableAutoReconnect == CBConnectPeripheralOptionEnableAutoReconnect)
        for raw in 0...5 {
            let state = CBManagerState(rawValue: raw)
            #expect(state.map { CBMManagerState($0).rawValue } == raw)
        }
        // Both modules declare the name, for one type.
        let timestamp: CFAbsoluteTime = 1
        #expect(timestamp == 1)
    }
}
