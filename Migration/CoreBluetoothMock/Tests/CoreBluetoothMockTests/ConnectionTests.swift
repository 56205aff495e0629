import BluetoothEmulator
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

@Suite(.emulator(.default)) struct ConnectionTests {
    private let emulator = Emulator.current
    private let sensor = Sensor()

    @Test func `A connection comes up and is ended by the app without an error`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        #expect(sensor.take() == ["connect"])
        #expect(peripheral.state == .connected)
        #expect(spec.isConnected && spec.virtualConnections == 1 && spec.wasConnected)
        client.manager.cancelPeripheralConnection(peripheral)
        client.manager.cancelPeripheralConnection(peripheral)
        try await emulator.runUntilIdle()
        #expect(client.take() == ["disconnected"])
        #expect(sensor.take() == ["disconnect -"])
        #expect(!spec.isConnected)
    }

    @Test func `A refused connection fails with the very error of the delegate, once for each attempt`() async throws {
        sensor.answers.connection = .failure(TestError(number: 7))
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.find(spec)
        client.manager.connect(peripheral)
        try await emulator.advance(by: .seconds(5))
        #expect(client.take() == ["failed: TestError(number: 7)"])
        #expect(client.error as? TestError == TestError(number: 7))
        #expect(sensor.take() == ["connect"])
        sensor.answers.connection = .success(())
        client.manager.connect(peripheral)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["connected"])
    }

    @Test func `Without a connectable set, or without a delegate, no connection comes up`() async throws {
        let data: [String: Any] = [CBMAdvertisementDataLocalNameKey: "Mute"]
        let mute = CBMPeripheralSpec.simulatePeripheral().advertising(advertisementData: data)
            .connectable(name: "Mute", services: [], delegate: sensor).build()
        let idle = CBMPeripheralSpec.simulatePeripheral()
            .advertising(advertisementData: [CBMAdvertisementDataIsConnectable: true])
            .connectable(name: "Idle", services: [], delegate: nil).build()
        let client = try await Client.on(mute, idle)
        for spec in [mute, idle] {
            let peripheral = try await client.find(spec)
            client.manager.connect(peripheral)
            try await emulator.advance(by: .seconds(60))
            #expect(peripheral.state == .connecting)
            client.manager.cancelPeripheralConnection(peripheral)
            try await emulator.advance(by: .seconds(1))
            #expect(client.take() == ["disconnected"])
        }
        #expect(sensor.take() == [])
    }

    @Test func `Until the first connection the name is the advertised one`() async throws {
        let spec = CBMPeripheralSpec.simulatePeripheral()
            .advertising(advertisementData: [
                CBMAdvertisementDataLocalNameKey: "Short", CBMAdvertisementDataIsConnectable: true,
            ])
            .connectable(name: "The whole name", services: [], delegate: sensor).build()
        let client = try await Client.on(spec)
        let peripheral = try await client.find(spec)
        #expect(peripheral.name == "Short")
        peripheral.delegate = client
        client.manager.connect(peripheral)
        try await emulator.advance(by: .seconds(1))
        #expect(peripheral.name == "The whole name")
    }

    @Test func `The mtu of the spec is that of the link, within 23 and 517`() async throws {
        let spec = sensor.spec(mtu: 1_000)
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        #expect(spec.mtu == 517)
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 512)
        #expect(peripheral.maximumWriteValueLength(for: .withResponse) == 512)
        #expect((peripheral as? CBMPeripheralMock)?.debugDescription.contains("mtu = 517") == true)
    }

    @Test func `A disconnection by the peripheral carries the error to the app and to the delegate`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        _ = sensor.take()
        spec.simulateDisconnection(withError: TestError(number: 3))
        #expect(!spec.isConnected)
        try await emulator.advance(by: .milliseconds(100))
        #expect(client.take() == ["disconnected: TestError(number: 3)"])
        #expect(sensor.take() == ["disconnect TestError(number: 3)"])
        #expect(peripheral.state == .disconnected && peripheral.services == nil)
        client.manager.connect(peripheral)
        try await emulator.advance(by: .seconds(1))
        _ = client.take()
        spec.simulateDisconnection()
        try await emulator.advance(by: .milliseconds(100))
        #expect(client.take() == ["disconnected: CB 7"])
    }

    @Test func `A connection that is lost ends once, after the supervision timeout`() async throws {
        let spec = sensor.spec(supervisionTimeout: 2)
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        spec.simulateDisconnection(withError: CBMError(.connectionTimeout))
        try await emulator.advance(by: .milliseconds(1_900))
        #expect(client.take() == [])
        client.manager.cancelPeripheralConnection(peripheral)
        try await emulator.advance(by: .seconds(5))
        #expect(client.take() == ["disconnected"])
    }

    @Test func `A reset calls the delegate at once, and the app after the supervision timeout`() async throws {
        let spec = sensor.spec(supervisionTimeout: 2)
        let client = try await Client.on(spec)
        _ = try await client.connect(to: spec)
        _ = sensor.take()
        spec.simulateReset()
        #expect(sensor.take() == ["reset"])
        #expect(!spec.isConnected)
        try await emulator.advance(by: .milliseconds(1_900))
        #expect(client.take() == [])
        try await emulator.advance(by: .milliseconds(300))
        #expect(client.take() == ["disconnected: CB 6"])
        #expect(sensor.take() == ["disconnect CB 6"])
    }

    @Test func `Out of range, requests stall and the connection is lost`() async throws {
        let spec = sensor.spec(supervisionTimeout: 1)
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        spec.simulateProximityChange(.outOfRange)
        peripheral.readValue(for: try #require(peripheral.characteristic))
        try await emulator.advance(by: .seconds(3))
        #expect(client.take() == ["disconnected: CB 6"])
    }

    @Test func `With auto-reconnect the manager connects again by itself`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.find(spec)
        client.manager.connect(peripheral, options: [CBMConnectPeripheralOptionEnableAutoReconnect: true as NSNumber])
        try await emulator.advance(by: .seconds(1))
        spec.simulateDisconnection()
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["connected", "disconnected, reconnecting: CB 7", "connected"])
        #expect(spec.isConnected)
    }

    @Test func `A start delay postpones the attempt`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.find(spec)
        client.manager.connect(peripheral, options: [CBMConnectPeripheralOptionStartDelayKey: 5 as NSNumber])
        try await emulator.advance(by: .seconds(4))
        #expect(peripheral.state == .connecting && sensor.take() == [])
        try await emulator.advance(by: .seconds(2))
        #expect(client.take() == ["connected"])
    }

    @Test func `With the adapter off, connections end without a callback, and objects stay usable`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        _ = sensor.take()
        CBMCentralManagerMock.simulatePowerOff()
        #expect(!spec.isConnected)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["state poweredOff"])
        #expect(sensor.take() == ["disconnect -"])
        #expect(peripheral.state == .disconnected)
        CBMCentralManagerMock.simulatePowerOn()
        try await emulator.advance(by: .seconds(1))
        client.manager.connect(peripheral)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["state poweredOn", "connected"])
    }

    @Test func `A peripheral of another manager, or of the client's own making, is ignored`() async throws {
        let spec = sensor.spec()
        let (client, other) = (try await Client.on(spec), Client())
        try await emulator.advance(by: .seconds(1))
        let peripheral = try await client.find(spec)
        other.manager.connect(peripheral)
        try await emulator.advance(by: .seconds(1))
        #expect(peripheral.state == .disconnected && sensor.take() == [])
    }

    @Test func `After a change of the address, the peripheral is another one, and its link is lost`() async throws {
        let spec = sensor.spec()
        let old = spec.identifier
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        let new = UUID()
        spec.simulateMacChange(new)
        #expect(spec.identifier == new && !spec.isKnown && !spec.isConnected)
        #expect(client.manager.retrievePeripherals(withIdentifiers: [old, new]).isEmpty)
        try await emulator.advance(by: .seconds(2))
        #expect(client.take() == ["disconnected: CB 6"])
        #expect(peripheral.identifier == old)
        let found = try await client.find(spec)
        #expect(found.identifier == new && found !== peripheral)
        client.manager.connect(found)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["connected"])
    }

    @Test func `Two managers share the link, and each ends its own connection`() async throws {
        let spec = sensor.spec()
        let (client, other) = (try await Client.on(spec), Client())
        let first = try await client.connect(to: spec)
        let second = try #require(other.manager.retrievePeripherals(withIdentifiers: [spec.identifier]).first)
        other.manager.connect(second)
        try await emulator.advance(by: .seconds(1))
        #expect(other.take() == ["state poweredOn", "connected"])
        #expect(spec.virtualConnections == 2)
        client.manager.cancelPeripheralConnection(first)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["disconnected"])
        #expect(spec.virtualConnections == 1 && second.state == .connected)
    }

    @Test func `A registered app hears of connections with other apps`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        client.manager.registerForConnectionEvents(options: [.peripheralUUIDs: [spec.identifier]])
        spec.simulateConnection()
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["event peerConnected"])
        spec.simulateDisconnection()
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["event peerDisconnected"])
    }

    @Test func `The strength of a link is read, and L2CAP channels are refused`() async throws {
        let spec = sensor.spec(proximity: .near)
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        peripheral.readRSSI()
        peripheral.openL2CAPChannel(192)
        try await emulator.runUntilIdle()
        #expect(client.rssis.last == -70)
        #expect(client.take() == ["rssi", "no channel: CB \(CBMError.operationNotSupported.rawValue)"])
    }
}
