import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

@Suite(.emulator()) struct SimulationTests {
    private let emulator = Emulator.current

    @Test func `Managers receive each state, and none twice`() async throws {
        CBMCentralManagerMock.simulateInitialState(.poweredOff)
        let client = Client()
        let states: [CBMManagerState] = [
            .poweredOff, .poweredOn, .poweredOn, .resetting, .unknown, .unsupported, .unauthorized, .poweredOff,
        ]
        for state in states {
            CBMCentralManagerMock.simulateInitialState(state)
            try await emulator.advance(by: .seconds(1))
            #expect(client.manager.state == state)
        }
        #expect(
            client.take() == [
                "state poweredOff", "state poweredOn", "state resetting", "state unknown", "state unsupported",
                "state unauthorized", "state poweredOff",
            ])
        #expect(CBMCentralManagerMock.authorization == .allowedAlways)
    }

    @Test func `A permission that was refused shows in the state and in the authorization`() async throws {
        CBMCentralManagerMock.simulatePowerOn()
        let client = Client()
        #expect(CBMCentralManagerMock.bluetoothAuthorization == nil)
        for authorization in [CBMManagerAuthorization.denied, .restricted] {
            CBMCentralManagerMock.simulateAuthorization(authorization)
            try await emulator.advance(by: .seconds(1))
            #expect(client.manager.state == .unauthorized)
            #expect(client.manager.authorization == authorization)
            #expect(CBMCentralManager.authorization == authorization)
            #expect(CBMCentralManagerMock.bluetoothAuthorization == authorization.rawValue)
        }
        CBMCentralManagerMock.simulateAuthorization(.notDetermined)
        try await emulator.advance(by: .seconds(1))
        #expect(client.manager.state == .unknown)
        CBMCentralManagerMock.simulateAuthorization(.allowedAlways)
        try await emulator.advance(by: .seconds(1))
        #expect(client.manager.state == .poweredOn)
    }

    @Test func `Features are those that a test answers`() {
        #expect(CBMCentralManagerMock.supports(.extendedScanAndConnect))
        CBMCentralManagerMock.simulateFeaturesSupport = { _ in false }
        #expect(!CBMCentralManagerMock.supports(.extendedScanAndConnect))
        #expect(!CBMCentralManager.supports(.extendedScanAndConnect))
        #expect(CBMCentralManagerMock.simulateFeaturesSupport != nil)
    }

    @Test func `After the tear-down managers are without an adapter for good`() async throws {
        let spec = Sensor().spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        CBMCentralManagerMock.simulateAuthorization(.allowedAlways)
        CBMCentralManagerMock.tearDownSimulation()
        #expect(client.manager.state == .unknown && !spec.isConnected)
        #expect(CBMCentralManagerMock.bluetoothAuthorization == nil)
        #expect(CBMCentralManagerMock.rssiDeviation.value == 15)
        let next = try await Client.on(spec)
        #expect(next.manager.state == .poweredOn)
        #expect(client.take() == ["state unknown"])
        #expect(client.manager.state == .unknown && peripheral.state == .disconnected)
        client.manager.connect(peripheral)
        try await emulator.advance(by: .seconds(5))
        #expect(client.take() == [])
    }

    @Test func `A static call is for the world of the task's emulator`() async throws {
        let (first, second) = (emulator, Emulator(time: .virtual))
        #expect(CBMCentralManagerMock.emulator === first)
        CBMCentralManagerMock.simulateRSSIDeviation(.custom(1))
        CBManager.withBackend(.emulator(second)) {
            #expect(CBMCentralManagerMock.emulator === second)
            #expect(CBMCentralManagerMock.rssiDeviation.value == 15)
        }
        #expect(CBMCentralManagerMock.rssiDeviation.value == 1)
        try await second.advance(by: .zero)
        #expect(second.configuration.maximumMTU == 517 && second.configuration.rssiDeviation == 0)
    }

    @Test func `Callbacks and hooks run with the selection of their world`() async throws {
        let sensor = Sensor()
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let seen = Protected<[Bool]>([])
        sensor.answers.onDisconnect = { [emulator] _ in
            seen.withLock { $0.append(CBMCentralManagerMock.emulator === emulator) }
        }
        let proxy = CBMCentralManagerDelegateProxy()
        proxy.didDiscoverPeripheral = { [emulator] _, _, _, _ in
            seen.withLock { $0.append(CBMCentralManagerMock.emulator === emulator) }
        }
        _ = try await client.connect(to: spec)
        spec.simulateDisconnection()
        client.manager.delegate = proxy
        client.manager.scanForPeripherals(withServices: nil)
        try await emulator.advance(by: .seconds(1))
        #expect(seen.withLock { $0 } == [true, true])
    }

    @Test func `A world without a manager does not keep its emulator alive`() {
        weak var gone: Emulator?
        do {
            let emulator = Emulator(time: .virtual)
            gone = emulator
            CBManager.withBackend(.emulator(emulator)) {
                CBMCentralManagerMock.simulatePeripherals([Sensor().spec()])
                CBMCentralManagerMock.simulatePowerOn()
            }
        }
        #expect(gone == nil)
    }

    @Test func `A factory makes a mock where the task has selected an emulator`() {
        #expect(CBMCentralManagerFactory.instance() is CBMCentralManagerMock)
        #expect(CBMCentralManagerFactory.instance(delegate: nil, queue: nil) is CBMCentralManagerMock)
        #expect(
            CBMCentralManagerFactory.instance(delegate: nil, queue: nil, options: nil, forceMock: true)
                is CBMCentralManagerMock)
    }

    @Test func `The settings of the environment are read, and what is not understood is ignored`() {
        func environment(_ time: String, _ seed: String) -> MockEnvironment {
            MockEnvironment(["COREBLUETOOTH_MOCK_TIME": time, "COREBLUETOOTH_MOCK_SEED": seed])
        }
        #expect(environment("real", "7").time == .real && environment("real", "7").seed == 7)
        #expect(environment("2.5", "x").time == .scaled(by: 2.5) && environment("2.5", "x").seed == nil)
        #expect(environment("-1", "").time == nil && environment("soon", "").time == nil)
        #expect(MockEnvironment([:]).time == nil && MockEnvironment([:]).seed == nil)
    }

    @Test func `A manager calls its delegate on its queue`() async throws {
        let queue = DispatchQueue(label: "queue of the test")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let isOnQueue = Protected<[Bool?]>([])
        let proxy = CBMCentralManagerDelegateProxy()
        proxy.didDiscoverPeripheral = { _, _, _, _ in
            isOnQueue.withLock { $0.append(DispatchQueue.getSpecific(key: key)) }
        }
        CBMCentralManagerMock.simulatePeripherals([Sensor().spec()])
        CBMCentralManagerMock.simulatePowerOn()
        let manager = CBMCentralManagerMock(delegate: proxy, queue: queue)
        try await emulator.advance(by: .seconds(1))
        manager.scanForPeripherals(withServices: nil)
        try await emulator.advance(by: .seconds(1))
        #expect(isOnQueue.withLock { $0 } == [true])
    }

    /// A mock that a client defines.
    private final class CountingMock: CBMCentralManagerMock {
        var scans = 0
        override func scanForPeripherals(withServices serviceUUIDs: [CBMUUID]?, options: [String: Any]? = nil) {
            scans += 1
            super.scanForPeripherals(withServices: serviceUUIDs, options: options)
        }
    }

    @Test func `A client may inherit from the mock`() async throws {
        CBMCentralManagerMock.simulatePeripherals([Sensor().spec()])
        CBMCentralManagerMock.simulatePowerOn()
        let client = Client { CountingMock(delegate: $0, queue: nil, options: nil) }
        try await emulator.advance(by: .seconds(1))
        client.manager.scanForPeripherals(withServices: nil)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["state poweredOn", "found Sensor"])
        #expect((client.manager as? CountingMock)?.scans == 1)
    }

    @Test func `A grant of notifications of the phone is reported`() async throws {
        let spec = Sensor().spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        let device = try #require(emulator.devices.first)
        let granted = Protected<[UUID]>([])
        let proxy = CBMCentralManagerDelegateProxy()
        proxy.didUpdateANCSAuthorization = { _, peripheral in granted.withLock { $0.append(peripheral.identifier) } }
        client.manager.delegate = proxy
        emulator.host.setANCSAuthorized(true, for: device)
        try await emulator.advance(by: .seconds(1))
        #expect(granted.withLock { $0 } == [spec.identifier] && peripheral.ancsAuthorized)
    }

    @Test func `Delegates are not kept alive`() async throws {
        let spec = Sensor().spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        do {
            let (first, second) = (CBMCentralManagerDelegateProxy(), CBMPeripheralDelegateProxy())
            client.manager.delegate = first
            peripheral.delegate = second
            #expect(client.manager.delegate === first && peripheral.delegate === second)
        }
        #expect(client.manager.delegate == nil && peripheral.delegate == nil)
    }

    @Test func `The internal names that tests reach exist`() {
        #expect(CBMProximity.near.RSSI == -70 && CBMProximity.outOfRange.RSSI == 127)
        #expect(CBMProximity.Deviation.none.value == 0 && CBMProximity.Deviation.custom(-4).value == 4)
        let descriptor = CBMDescriptorMock(type: CBMUUID(string: "2901"))
        let characteristic = CBMCharacteristicMock(
            type: Sensor.value, properties: .read, descriptors: descriptor)
        let service = CBMServiceMock(type: Sensor.service, primary: true, characteristics: characteristic)
        #expect(characteristic.optionalService === service && descriptor.optionalCharacteristic === characteristic)
        #expect(Set([service.identifier, characteristic.identifier, descriptor.identifier]).count == 3)
        #expect(CBMCCCDescriptorMock().uuid == CBMUUID(string: "2902"))
    }
}
