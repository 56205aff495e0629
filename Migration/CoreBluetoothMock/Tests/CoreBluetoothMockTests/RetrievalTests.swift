import BluetoothEmulator
import CoreBluetoothMock
import CoreBluetoothTesting
import Testing

@Suite(.emulator()) struct RetrievalTests {
    private let emulator = Emulator.current
    private let sensor = Sensor()

    /// Returns a spec without advertising.
    private func silent(_ build: (CBMPeripheralSpec.Builder) -> CBMPeripheralSpec.Builder) -> CBMPeripheralSpec {
        build(CBMPeripheralSpec.simulatePeripheral()).build()
    }

    @Test func `Known peripherals are retrieved in the order of the request, others are left out`() async throws {
        let known = sensor.spec("known")
        let cached = silent { $0.allowForRetrieval() }
        let unknown = sensor.spec("unknown")
        let client = try await Client.on(known, cached, unknown)
        known.simulateCaching()
        try await emulator.advance(by: .milliseconds(1))
        #expect(known.isKnown && cached.isKnown && !unknown.isKnown)
        let identifiers = [cached.identifier, unknown.identifier, UUID(), known.identifier]
        let found = client.manager.retrievePeripherals(withIdentifiers: identifiers)
        #expect(found.map(\.identifier) == [cached.identifier, known.identifier])
        #expect(client.manager.retrievePeripherals(withIdentifiers: [known.identifier]).first === found.last)
    }

    @Test func `A peripheral that was scanned is known in the next simulation, too`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        #expect(!spec.isKnown)
        _ = try await client.find(spec)
        #expect(spec.isKnown)
        CBMCentralManagerMock.tearDownSimulation()
        let next = try await Client.on(spec)
        #expect(next.manager.retrievePeripherals(withIdentifiers: [spec.identifier]).count == 1)
    }

    @Test func `A peripheral that another app uses is connected at once, without advertising`() async throws {
        let spec = silent { $0.connected(name: "Busy", services: [Sensor.simpleService()], delegate: sensor) }
        #expect(spec.isConnected && spec.isKnown && spec.advertisement == nil)
        let client = try await Client.on(spec)
        #expect(client.manager.retrieveConnectedPeripherals(withServices: [CBMUUID(string: "1234")]).isEmpty)
        let found = client.manager.retrieveConnectedPeripherals(withServices: [Sensor.service])
        let peripheral = try #require(found.first)
        #expect(peripheral.identifier == spec.identifier && peripheral.state == .disconnected)
        client.manager.connect(peripheral)
        try await emulator.runUntilIdle()
        #expect(client.take() == ["connected"])
        #expect(peripheral.name == "Busy")
        client.manager.cancelPeripheralConnection(peripheral)
        try await emulator.runUntilIdle()
        #expect(client.take() == ["disconnected"])
        #expect(spec.isConnected)
    }

    @Test func `Another app connects while the simulation runs`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        spec.simulateConnection()
        #expect(spec.isConnected)
        try await emulator.runUntilIdle()
        let found = client.manager.retrieveConnectedPeripherals(withServices: [Sensor.service])
        #expect(found.map(\.identifier) == [spec.identifier])
        spec.simulateDisconnection()
        #expect(!spec.isConnected)
        try await emulator.runUntilIdle()
        #expect(client.manager.retrieveConnectedPeripherals(withServices: [Sensor.service]).isEmpty)
    }

    @Test func `Nobody connects to a peripheral that is out of range, or takes no connections`() async throws {
        let far = sensor.spec(proximity: .outOfRange)
        let beacon = silent { $0.advertising(advertisementData: [:]) }
        far.simulateConnection()
        beacon.simulateConnection()
        #expect(!far.isConnected && !beacon.isConnected)
    }
}

@Suite(.emulator()) struct RestorationTests {
    private let emulator = Emulator.current
    private let sensor = Sensor()

    private func restoringClient(_ state: [String: Any]?) -> Client {
        CBMCentralManagerMock.simulateStateRestoration = { identifier in identifier == "app" ? state : nil }
        let options = [CBMCentralManagerOptionRestoreIdentifierKey: "app"]
        return Client { CBMCentralManagerMock(delegate: $0, queue: nil, options: options) }
    }

    @Test func `Specs in use are restored as connected, others as connecting, and the scan runs on`() async throws {
        let (linked, wanted) = (sensor.spec("linked"), sensor.spec("wanted"))
        CBMCentralManagerMock.simulatePeripherals([linked, wanted, sensor.spec("other")])
        CBMCentralManagerMock.simulatePowerOn()
        linked.simulateConnection()
        let client = restoringClient([
            CBMCentralManagerRestoredStatePeripheralsKey: [linked, wanted],
            CBMCentralManagerRestoredStateScanServicesKey: [Sensor.service],
            CBMCentralManagerRestoredStateScanOptionsKey: [CBMCentralManagerScanOptionAllowDuplicatesKey: true],
        ])
        try await emulator.advance(by: .milliseconds(1))
        #expect(client.take().prefix(2) == ["restored connected, connecting", "state poweredOn"])
        #expect(client.manager.isScanning)
        #expect(linked.isConnected)
        try await emulator.advance(by: .seconds(2))
        let lines = client.take()
        #expect(lines.contains("connected"))
        #expect(lines.count { $0 == "found other" } > 10)
        let peripheral = try #require(client.peripheral(linked))
        peripheral.discoverServices(nil)
        try await emulator.advance(by: .seconds(1))
        #expect(peripheral.services?.count == 1)
    }

    @Test func `The system connects again to a restored peripheral that is lost`() async throws {
        let spec = sensor.spec()
        CBMCentralManagerMock.simulatePeripherals([spec])
        CBMCentralManagerMock.simulatePowerOn()
        spec.simulateConnection()
        let client = restoringClient([CBMCentralManagerRestoredStatePeripheralsKey: [spec]])
        try await emulator.advance(by: .seconds(1))
        _ = client.take()
        for _ in 0..<2 {
            spec.simulateDisconnection()
            try await emulator.advance(by: .seconds(1))
            #expect(client.take() == ["disconnected, reconnecting: CB 7", "connected"])
        }
    }

    @Test func `Without a state nothing is restored`() async throws {
        CBMCentralManagerMock.simulatePowerOn()
        let client = restoringClient(nil)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["state poweredOn"])
    }
}
