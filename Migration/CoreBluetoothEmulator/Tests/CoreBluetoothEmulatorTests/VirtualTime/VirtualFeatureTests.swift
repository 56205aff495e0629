import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothEmulator

@MainActor
@Suite(.emulator(.instant)) struct VirtualFeatureTests {
    private func configuration(
        _ change: (inout CoreBluetoothEmulator.EmulatorConfiguration) -> Void
    ) -> CoreBluetoothEmulator.EmulatorConfiguration {
        var configuration = CoreBluetoothEmulator.EmulatorConfiguration.instant
        change(&configuration)
        return configuration
    }

    @Test func `where Apple's rule counts, links of other apps are reported, and nil ends that`() async throws {
        let world = VirtualWorld(
            configuration {
                $0.fireConnectionEvents = true
                $0.followsApple = true
            })
        let manager = try await world.advertise()
        let peripheral = try await world.connect()
        let device = try #require(manager.place.host.peripheral)
        world.phone?.cancelPeripheralConnection(peripheral)
        try await world.emulator.runUntilIdle()
        world.phone?.registerForConnectionEvents(options: [.peripheralUUIDs: [manager.identifier]])
        world.phone?.place.host.connectOtherApp(to: device, withoutAdvertising: true)
        try await world.emulator.runUntilIdle()
        #expect(world.app.connectionEvents == [.peerConnected])
        world.phone?.registerForConnectionEvents(options: nil)
        world.phone?.place.host.disconnectOtherApp(from: device)
        try await world.emulator.runUntilIdle()
        #expect(world.app.connectionEvents == [.peerConnected])
    }

    @Test func `where Apple's rule counts, advertisements have name and services only`() async throws {
        let world = VirtualWorld(configuration { $0.followsApple = true })
        let manager = EmulatedCBPeripheralManager(delegate: world.server, queue: nil)
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        try await world.emulator.runUntilIdle()
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "A", CBAdvertisementDataManufacturerDataKey: Data([1, 2]), "own": 1,
        ])
        phone.scanForPeripherals(withServices: nil)
        await world.emulator.expect(.didDiscover)
        let data = try #require(world.app.discovered.first?.data)
        #expect(data[CBAdvertisementDataLocalNameKey] as? String == "A")
        #expect(data[CBAdvertisementDataManufacturerDataKey] == nil)
        #expect(data["own"] == nil)
    }

    @Test func `where Apple's rule counts, nothing is restored without a preserved state`() async throws {
        let world = VirtualWorld(
            configuration {
                $0.stateRestorationEnabled = true
                $0.followsApple = true
            })
        try await world.advertise(options: [CBPeripheralManagerOptionRestoreIdentifierKey: "server"])
        try await world.connect(options: [CBCentralManagerOptionRestoreIdentifierKey: "app"])
        #expect(world.app.centralRestored == nil)
        #expect(world.server.peripheralRestored == nil)
    }

    @Test func `where Apple's rule counts, a write without response to a full queue is dropped`() async throws {
        let world = VirtualWorld(
            configuration {
                $0.simulateBackpressure = true
                $0.maxWriteWithoutResponseQueue = 1
                $0.backpressureProcessingDelay = 1
                $0.followsApple = true
            })
        world.server.onWrite = { $0.respond(to: $1[0], withResult: .success) }
        world.server.onRead = { $0.respond(to: $1, withResult: .success) }
        try await world.advertise()
        let peripheral = try await world.connect()
        peripheral.readValue(for: world.served)
        try await world.emulator.runUntilIdle()
        #expect(world.app.updates == [Data()])
        for byte in 1...2 { peripheral.writeValue(Data([UInt8(byte)]), for: world.served, type: .withoutResponse) }
        try await world.emulator.runUntilIdle()
        #expect(world.server.writes.map { $0[0].value } == [Data([1])])
    }

    @Test func `a scan goes on with the manager that restores it`() async throws {
        let world = VirtualWorld(configuration { $0.stateRestorationEnabled = true })
        let options = [CBCentralManagerOptionRestoreIdentifierKey: "app"]
        var first: EmulatedCBCentralManager? = EmulatedCBCentralManager(
            delegate: world.app, queue: nil, options: options)
        try await world.emulator.runUntilIdle()
        first?.scanForPeripherals(withServices: [VirtualWorld.service])
        let identifier = try #require(first?.identifier)
        try await EmulatorBus.shared.saveCentralState(centralIdentifier: identifier, restoreIdentifier: "app")
        let preserved = try await EmulatorBus.shared.restoreState(
            identifier: "app", as: EmulatorBus.RestoredCentralState.self)
        #expect(preserved?.scanServices == [VirtualWorld.service.data])
        first = nil
        let second = EmulatedCBCentralManager(delegate: world.app, queue: nil, options: options)
        try await world.emulator.runUntilIdle()
        let services = world.app.centralRestored?[CBCentralManagerRestoredStateScanServicesKey]
        #expect(services as? [CBUUID] == [VirtualWorld.service])
        #expect(second.isScanning)
        try await world.advertise()
        await world.emulator.expect(.didDiscover)
        #expect(second.identifier == identifier)
        #expect(first == nil)
    }

    @Test func `states that a test wrote are restored`() async throws {
        let world = VirtualWorld(configuration { $0.stateRestorationEnabled = true })
        let manager = try await world.advertise()
        let bus = EmulatorBus.shared
        let (central, peripheral) = (UUID(), UUID())
        try await bus.saveStateForRestoration(
            identifier: "app",
            state: EmulatorBus.RestoredCentralState(
                centralIdentifier: central, connectedPeripheralIdentifiers: [manager.identifier, UUID()],
                scanServices: [VirtualWorld.service.data]))
        try await bus.saveStateForRestoration(
            identifier: "server",
            state: EmulatorBus.RestoredPeripheralState(
                peripheralIdentifier: peripheral, isAdvertising: true,
                advertisementData: [
                    CBAdvertisementDataLocalNameKey: Data("Old".utf8), "other": Data([0xFF]),
                ]))
        let phone = EmulatedCBCentralManager(
            delegate: world.app, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "app"])
        let second = EmulatedCBPeripheralManager(
            delegate: world.server, queue: nil, options: [CBPeripheralManagerOptionRestoreIdentifierKey: "server"])
        try await world.emulator.runUntilIdle()
        let key = CBCentralManagerRestoredStatePeripheralsKey
        let restored = try #require(world.app.centralRestored?[key] as? [EmulatedCBPeripheral])
        #expect(restored.map(\.identifier) == [manager.identifier])
        #expect(restored.first?.state == .connected)
        #expect(phone.identifier == central && phone.isScanning)
        #expect(second.identifier == peripheral && second.isAdvertising)
        let data = world.server.peripheralRestored?[CBPeripheralManagerRestoredStateAdvertisementDataKey]
        #expect((data as? [String: Any])?[CBAdvertisementDataLocalNameKey] as? String == "Old")
        #expect((data as? [String: Any])?["other"] as? Data == Data([0xFF]))
        let app = try await bus.restoreState(identifier: "app", as: EmulatorBus.RestoredCentralState.self)
        #expect(app?.centralIdentifier == central)
        let third = EmulatedCBCentralManager(
            delegate: world.app, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "app"])
        try await world.emulator.runUntilIdle()
        #expect(world.app.centralRestored?.isEmpty == true)
        #expect(third.identifier != central)
    }

    @Test func `two living managers of one preserved state are two peripherals`() async throws {
        let world = VirtualWorld(configuration { $0.stateRestorationEnabled = true })
        let options = [CBPeripheralManagerOptionRestoreIdentifierKey: "server"]
        let first = try await world.advertise(options: options)
        try await EmulatorBus.shared.savePeripheralState(
            peripheralIdentifier: first.identifier, restoreIdentifier: "server")
        let second = EmulatedCBPeripheralManager(delegate: world.server, queue: nil, options: options)
        try await world.emulator.runUntilIdle()
        #expect(second.identifier != first.identifier)
        #expect(second.publishedServices.map(\.uuid) == [VirtualWorld.service])
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        try await world.emulator.runUntilIdle()
        phone.scanForPeripherals(withServices: nil)
        try await world.emulator.advance(by: .seconds(1))
        #expect(Set(world.app.discovered.map(\.peripheral.identifier)) == [first.identifier, second.identifier])
    }

    @Test func `a new name is reported while the peripheral is heard`() async throws {
        let world = VirtualWorld()
        let manager = EmulatedCBPeripheralManager(delegate: world.server, queue: nil)
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        try await world.emulator.runUntilIdle()
        manager.startAdvertising([CBAdvertisementDataLocalNameKey: "old"])
        phone.scanForPeripherals(withServices: nil)
        await world.emulator.expect(.didDiscover)
        let peripheral = try #require(world.app.discovered.first?.peripheral)
        peripheral.delegate = world.app
        manager.stopAdvertising()
        manager.startAdvertising([CBAdvertisementDataLocalNameKey: "new"])
        try await world.emulator.advance(by: .seconds(1))
        #expect(world.app.count("name") == 1)
        #expect(peripheral.name == "new")
        #expect(world.app.discovered.map { $0.data[CBAdvertisementDataLocalNameKey] as? String } == ["old", "new"])
    }

    @Test func `a connection latency is asked for`() async throws {
        let world = VirtualWorld()
        let manager = try await world.advertise()
        let peripheral = try await world.connect()
        peripheral.setNotifyValue(true, for: world.served)
        try await world.emulator.runUntilIdle()
        manager.setDesiredConnectionLatency(.low, for: try #require(world.server.subscribed.first))
        try await world.emulator.runUntilIdle()
        #expect(world.emulator.trace.contains { "\($0)".contains("setConnectionLatency") })
    }

    @available(*, deprecated, message: "Uses the deprecated function.")
    @Test func `no user is asked for authorization`() {
        #expect(EmulatedCBPeripheralManager.authorizationStatus() == .authorized)
    }

    @Test func `pairing takes its time`() async throws {
        let world = VirtualWorld(
            configuration {
                $0.requirePairing = true
                $0.simulatePairing = true
                $0.pairingDelay = 2
            })
        let protected = EmulatedCBMutableDescriptor(
            type: CBUUID(string: "ABCD"), value: Data([1]), permissions: [.readEncryptionRequired])
        world.served.descriptors = [protected]
        try await world.advertise()
        let peripheral = try await world.connect()
        let start = world.emulator.now
        peripheral.readValue(for: protected)
        try await world.emulator.runUntilIdle()
        #expect(world.app.count("descriptorValue") == 1)
        #expect(world.emulator.now - start == .seconds(2))
        #expect(
            await EmulatorBus.shared.isPaired(
                centralIdentifier: try #require(world.phone).identifier, peripheralIdentifier: peripheral.identifier))
    }

    @Test func `a reset keeps the test's emulator, and managers begin anew`() async throws {
        let world = VirtualWorld()
        try await world.advertise()
        let peripheral = try await world.connect()
        await EmulatorBus.shared.reset()
        try await world.emulator.runUntilIdle()
        #expect(EmulatorBus.shared.emulator === world.emulator)
        #expect(world.manager?.state == .unknown)
        #expect(world.phone?.state == .unknown)
        #expect(peripheral.state == .disconnected)
        #expect(await EmulatorBus.shared.getAllPeripherals() == [])
        let later = VirtualWorld()
        let manager = try await later.advertise()
        #expect(try await later.connect().identifier == manager.identifier)
    }

    @Test(arguments: [1, 2]) func `each test has a world of its own`(number: Int) async throws {
        let world = VirtualWorld()
        let manager = try await world.advertise()
        let peripheral = try await world.connect()
        #expect(await EmulatorBus.shared.getAllPeripherals() == [manager.identifier])
        #expect(await EmulatorBus.shared.getAllCentrals() == [peripheral.centralManagerIdentifier])
    }

    @Test func `the same seed gives the same trace`() async throws {
        func run() async throws -> [String] {
            let emulator = BluetoothEmulator.Emulator(time: .virtual, seed: 9)
            return try await CBManager.withBackend(.emulator(emulator)) {
                let world = VirtualWorld(.unreliable)
                let manager = EmulatedCBPeripheralManager(delegate: world.server, queue: nil)
                try await emulator.runUntilIdle()
                manager.startAdvertising([CBAdvertisementDataLocalNameKey: "A"])
                let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
                try await emulator.runUntilIdle()
                phone.scanForPeripherals(withServices: nil)
                try await emulator.advance(by: .seconds(30))
                return emulator.trace.map { "\($0)" } + ["\(manager.identifier) \(world.app.discovered.map(\.rssi))"]
            }
        }
        let (first, second) = (try await run(), try await run())
        #expect(first == second)
        #expect(first.count > 5)
    }
}
