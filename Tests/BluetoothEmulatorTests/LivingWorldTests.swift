import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Changes of a running world by a test: its settings, its hosts, its links.
@Suite struct LivingWorldTests {
    private static let plain = PeripheralDescription(
        name: "Plain", advertising: [AdvertisingDescription(AdvertisingData(localName: "Plain"))],
        services: [ServiceDescription("180F", characteristics: [.init("2A19", .read, value: Data([7]))])])

    // MARK: Settings

    @Test func newSettingsApplyToWhatBeginsFromThenOn() async throws {
        let scene = try await DeviceFixture(Self.plain)
        let start = scene.emulator.now
        _ = try await scene.read("2A19")
        #expect(scene.emulator.now == start)
        var settings = EmulatorConfiguration.instant
        settings.readDelay = .seconds(3)
        scene.emulator.configure(settings)
        _ = try await scene.read("2A19")
        #expect(scene.emulator.now - start == .seconds(3))
        #expect(scene.emulator.configuration == settings)
    }

    @Test func whatALinkAgreedStaysWithNewSettings() async throws {
        let scene = try await DeviceFixture(Self.plain)
        var settings = EmulatorConfiguration.instant
        settings.maximumMTU = 23
        scene.emulator.configure(settings)
        try await scene.emulator.runUntilIdle()
        guard case .connected(_, _, _, let old)? = scene.fixture.events.first(where: { $0.kind == .connected }) else {
            throw Unexpected("no link")
        }
        #expect(old.mtu == 185)
        #expect(!scene.fixture.events.contains { $0.kind == .mtuChanged })
        scene.device.disconnect()
        try await scene.emulator.runUntilIdle()
        _ = try await scene.fixture.connect(scene.device)
        guard case .connected(_, _, _, let new)? = scene.fixture.events.last(where: { $0.kind == .connected }) else {
            throw Unexpected("no link")
        }
        #expect(new.mtu == 23)
    }

    @Test func aShorterTraceDropsItsOldestLinesAtOnce() async throws {
        let scene = try await DeviceFixture(Self.plain)
        #expect(scene.emulator.trace.count > 3)
        var settings = EmulatorConfiguration.instant
        settings.traceLimit = 3
        scene.emulator.configure(settings)
        try await scene.emulator.runUntilIdle()
        #expect(scene.emulator.trace.count == 3)
    }

    // MARK: Names

    @Test func anAnnouncedNameIsReadAgainAndAnotherWithTheNextConnect() async throws {
        let scene = try await DeviceFixture(Self.plain)
        let peer = try #require(scene.device.identifier())
        scene.device.rename("Quiet")
        try await scene.emulator.runUntilIdle()
        #expect(!scene.fixture.events.contains(.nameChanged(peer: peer, name: "Quiet", source: .gap)))
        scene.device.rename("Loud", isAnnounced: true)
        try await scene.emulator.runUntilIdle()
        #expect(scene.fixture.events.last == .nameChanged(peer: peer, name: "Loud", source: .gap))
    }

    // MARK: Links of other apps

    @Test func anotherAppHasALinkToASilentDeviceAtOnceAndAnAppSharesIt() async throws {
        let fixture = Fixture()
        var silent = Self.plain
        silent.advertising = []
        let device = try fixture.emulator.add(silent)
        try await fixture.powerOn()
        let host = fixture.emulator.host
        host.connectOtherApp(to: device)
        try await fixture.emulator.advance(by: .seconds(60))
        #expect(device.connectionCount == 0)
        host.connectOtherApp(to: device, withoutAdvertising: true)
        try await fixture.emulator.runUntilIdle()
        #expect(device.connectionCount == 1)
        let peer = try #require(device.identifier())
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.events.last?.kind == .connected)
        #expect(device.connectionCount == 1)
    }

    @Test func anotherAppHasNoLinkAtOnceToADeviceOutOfRange() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(Self.plain)
        device.setProximity(.outOfRange)
        fixture.emulator.host.connectOtherApp(to: device, withoutAdvertising: true)
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(device.connectionCount == 0)
    }

    // MARK: States

    @Test(arguments: AdapterState.allCases.filter { $0 != .poweredOn })
    func aShownStateStaysUntilItIsTakenBack(state: AdapterState) async throws {
        let scene = try await DeviceFixture(Self.plain)
        let host = scene.emulator.host
        host.setState(state)
        try await scene.emulator.advance(by: .seconds(3600))
        #expect(scene.fixture.events.last == .stateChanged(state))
        #expect(host.state == state)
        #expect(scene.device.connectionCount == 0)
        host.setPower(false)
        host.setPower(true)
        try await scene.emulator.runUntilIdle()
        #expect(scene.fixture.events.last == .stateChanged(state))
        host.setState(nil)
        try await scene.emulator.runUntilIdle()
        #expect(scene.fixture.events.last == .stateChanged(.poweredOn))
    }

    // MARK: Hosts

    @Test func aBackendOfOneHostPutsAllManagersThere() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let phone = try emulator.add(HostDescription(name: "phone", authorization: .denied))
        let backend = phone.backend
        #expect(backend.name == "emulator")
        #expect(backend.authorization() == .denied)
        #expect(emulator.authorization() == .allowed)
        phone.setAuthorization(.allowed)
        phone.setSupport(.channels, false)
        try await emulator.runUntilIdle()
        #expect(!backend.supports(.channels) && emulator.supports(.channels))
        let fixture = PeripheralFixture(emulator, host: nil)
        let server = backend.makePeripheral(RoleOptions())
        let sink = CollectingSink<PeripheralEvent>()
        server.activate(sink)
        server.submit(.startAdvertising(operation: op(1), advertisement: PeripheralFixture.advertisement))
        let other = Fixture(emulator: emulator)
        try await other.powerOn()
        let central = backend.makeCentral(RoleOptions(adapter: "default"))
        let found = CollectingSink<CentralEvent>()
        central.activate(found)
        try await emulator.runUntilIdle()
        central.submit(.startScan(ScanParameters()))
        try await emulator.advance(by: .seconds(1))
        other.submit(.startScan(ScanParameters()))
        try await emulator.advance(by: .seconds(1))
        #expect(phone.peripheral != nil)
        // The other host hears the advertisement; the host's own managers do not, whichever adapter they name.
        #expect(other.events.contains { $0.kind == .discovered })
        #expect(!found.events.contains { $0.kind == .discovered })
        #expect(fixture.events.isEmpty)
    }

    @Test func aHostLimitsTheMTUOfItsLinksInBothRoles() async throws {
        let pair = try await ConnectedPair()
        guard case .connected(_, _, _, let usual)? = pair.central.events.first(where: { $0.kind == .connected }) else {
            throw Unexpected("no link")
        }
        #expect(usual.mtu == 185)
        func mtuOfNextLink() async throws -> Int {
            pair.device.disconnect()
            try await pair.emulator.runUntilIdle()
            _ = try await pair.central.connect(pair.device)
            guard case .connected(_, _, _, let parameters)? = pair.central.events.last(where: { $0.kind == .connected })
            else { throw Unexpected("no link") }
            return parameters.mtu
        }
        let server = try #require(pair.emulator.host(named: "peripheral 1"))
        server.setMaximumMTU(100)
        #expect(try await mtuOfNextLink() == 100)
        pair.emulator.host.setMaximumMTU(50)
        #expect(try await mtuOfNextLink() == 50)
        pair.device.exchangeMTU(517)
        try await pair.emulator.runUntilIdle()
        #expect(!pair.central.events.contains { $0.kind == .mtuChanged })
        pair.emulator.host.setMaximumMTU(nil)
        server.setMaximumMTU(2)
        #expect(try await mtuOfNextLink() == 23)
    }

    @Test func bothSidesOfALinkKnowWhoTheOtherIs() async throws {
        let pair = try await ConnectedPair()
        try await pair.subscribe("C0D1")
        let server = try #require(pair.emulator.host(named: "peripheral 1"))
        // The server's identifier of the central's host, and the central's of the server's host.
        #expect(pair.emulator.host.identifier(onHost: "peripheral 1") == pair.centralID)
        #expect(server.identifier(onHost: "default") == pair.device.identifier())
        #expect(server.identifier(onHost: "nowhere") == nil)
    }

    @Test func aDeviceIsFoundByItsNumberUntilItIsRemoved() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let (first, second) = (try emulator.add(Self.plain), try emulator.add(.heartRateMonitor))
        #expect(emulator.device(number: first.number) == first)
        #expect(emulator.device(number: second.number) == second)
        first.remove()
        try await emulator.runUntilIdle()
        #expect(emulator.device(number: first.number) == nil)
        try emulator.add(Self.plain)
        #expect(emulator.device(number: first.number) == nil)
    }

    @Test func aHostOfAWorldFileHasItsMTU() throws {
        let world = try WorldDescription(json: Data(#"{"hosts": [{"name": "old phone", "maximumMTU": 23}]}"#.utf8))
        let emulator = try Emulator(world: world, time: .virtual)
        #expect(emulator.presentWorld.hosts.first?.maximumMTU == 23)
        #expect(throws: DescriptionError.self) {
            try WorldDescription(json: Data(#"{"hosts": [{"name": "new phone", "maximumMTU": 518}]}"#.utf8))
        }
    }
}
