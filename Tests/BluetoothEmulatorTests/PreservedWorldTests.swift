import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Managers whose state a snapshot or a world file preserves.
@Suite struct PreservedWorldTests {
    private static let band = PeripheralDescription(
        name: "Band", advertising: [AdvertisingDescription(AdvertisingData(services: ["180D"]))],
        services: [
            ServiceDescription(
                "180D", characteristics: [CharacteristicDescription("2A37", [.read, .notify], value: Data([1]))])
        ])

    /// A host whose two apps were terminated.
    static let world = WorldDescription(
        hosts: [
            HostDescription(
                name: "default",
                centrals: [
                    PreservedCentralDescription(
                        identifier: "app", scan: ScanParameters(services: ["180F"], allowDuplicates: true),
                        peers: [PreservedCentralDescription.Peer(device: "Band", subscriptions: ["2A37"])])
                ]),
            HostDescription(
                name: "phone",
                peripherals: [
                    PreservedPeripheralDescription(
                        identifier: "app",
                        services: [
                            ServiceDescription(
                                "C0DE",
                                characteristics: [
                                    CharacteristicDescription("C0D1", [.read, .write, .notify]),
                                    CharacteristicDescription("C0D2", .read, value: Data([1, 2, 3])),
                                ])
                        ], advertisement: AdvertisingData(localName: "Mine", services: ["C0DE"]))
                ]),
        ], devices: [band])

    private func emulator() throws -> Emulator {
        let world = try WorldDescription(json: Self.world.json())
        return try Emulator(world: world, configuration: .instant, time: .virtual)
    }

    @Test func S141_S142_aFileRestoresACentralManager() async throws {
        let emulator = try emulator()
        let band = try #require(emulator.devices.first)
        try await emulator.advance(by: .seconds(1))
        // The host continues without the app.
        #expect(band.connectionCount == 1)
        #expect(band.subscriberCount(of: "2A37") == 1)
        let central = emulator.makeCentral(RoleOptions(restoreIdentifier: "app"))
        let sink = CollectingSink<CentralEvent>()
        central.activate(sink)
        try await emulator.advance(by: .seconds(1))
        guard case .restored(let state)? = sink.events.first else { throw Unexpected("\(sink.events)") }
        #expect(sink.events.dropFirst().first == .stateChanged(.poweredOn))
        #expect(state.scan == ScanParameters(services: ["180F"], allowDuplicates: true))
        let peer = try #require(state.peers.first)
        #expect(peer.summary.name == "Band")
        let link = try #require(peer.link)
        let attribute = try #require(peer.services.first?.notifying.first)
        band.notify("2A37", value: Data([7]))
        try await emulator.advance(by: .seconds(1))
        #expect(sink.events.last == .valueNotified(link: link, attribute: attribute, value: Data([7])))
    }

    @Test func S142_aPeerThatIsAwayIsRestoredAsConnecting() async throws {
        let emulator = try emulator()
        let band = try #require(emulator.devices.first)
        band.setProximity(.outOfRange)
        let central = emulator.makeCentral(RoleOptions(restoreIdentifier: "app"))
        let sink = CollectingSink<CentralEvent>()
        central.activate(sink)
        try await emulator.advance(by: .seconds(1))
        guard case .restored(let state)? = sink.events.first else { throw Unexpected("\(sink.events)") }
        let peer = try #require(state.peers.first)
        #expect(peer.link == nil)
        band.setProximity(.near)
        try await emulator.advance(by: .seconds(1))
        #expect(
            sink.events.contains { event in
                if case .connected(peer.summary.id, _, peer.operation, _) = event { true } else { false }
            })
    }

    @Test func S143_aFileRestoresAPeripheralManager() async throws {
        let emulator = try emulator()
        let fixture = Fixture(emulator: emulator)
        try await fixture.powerOn()
        // The service is published and advertised while the app is terminated; no manager answers.
        let link = try await fixture.connect(try PeripheralFixture.device(emulator, host: "phone"))
        let found = try await fixture.attributes(link)
        let (dynamic, fixed) = (try found.characteristic("C0D1"), try found.characteristic("C0D2"))
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .setNotifying(dynamic, true)),
            .request(link: link, operation: op(2), .read(dynamic)),
            .request(link: link, operation: op(3), .read(fixed)))
        #expect(
            events == [
                .response(link: link, operation: op(1), .notifying(true)),
                .response(link: link, operation: op(2), .failure(.att(0x0E, operation: "read"))),
                .response(link: link, operation: op(3), .value(Data([1, 2, 3]))),
            ])
        let app = PeripheralFixture(emulator, restoreIdentifier: "app")
        try await app.powerOn()
        guard case .restored(let state)? = app.events.first else { throw Unexpected("\(app.events)") }
        #expect(emulator.hosts.map(\.name) == ["default", "phone"])
        #expect(state.services.map(\.uuid) == ["C0DE"])
        #expect(state.advertisement == Advertisement(localName: "Mine", serviceUUIDs: ["C0DE"]))
        let local = try #require(state.services.first?.characteristics.first?.id)
        #expect(state.subscriptions.map(\.attribute) == [local])
        try await app.run(.updateValue(attribute: local, value: Data([4]), centrals: nil))
        #expect(fixture.events.last == .valueNotified(link: link, attribute: dynamic, value: Data([4])))
    }

    @Test func S143_aSnapshotRestoresBothManagersOfAnApp() async throws {
        let pair = try await RestorablePair()
        let snapshot = try pair.emulator.snapshot()
        // Later changes are not in the snapshot.
        try await pair.peripheral.run(.removeAllServices)

        for _ in 0..<2 {
            let emulator = Emulator(restoring: snapshot)
            try await emulator.advance(by: .seconds(1))
            let central = emulator.makeCentral(RoleOptions(restoreIdentifier: "central"))
            let sink = CollectingSink<CentralEvent>()
            central.activate(sink)
            let peripheral = PeripheralFixture(emulator, restoreIdentifier: "peripheral")
            try await peripheral.powerOn()
            guard case .restored(let served)? = peripheral.events.first,
                case .restored(let known)? = sink.events.first
            else { throw Unexpected("\(peripheral.events) \(sink.events)") }
            #expect(served.services == [PeripheralFixture.service])
            #expect(served.advertisement == PeripheralFixture.advertisement)
            #expect(served.subscriptions.map(\.attribute) == [attribute(2)])
            let link = try #require(known.peers.first?.link)
            let remote = try #require(known.peers.first?.services.flatMap(\.notifying).first)
            try await peripheral.run(.updateValue(attribute: attribute(2), value: Data([4]), centrals: nil))
            #expect(sink.events.last == .valueNotified(link: link, attribute: remote, value: Data([4])))
            central.submit(.request(link: link, operation: op(50), .read(remote)))
            _ = try await peripheral.nextRequest(from: 0)
            try peripheral.answer(Data([5]))
            try await emulator.runUntilIdle()
            #expect(sink.events.last == .response(link: link, operation: op(50), .value(Data([5]))))
            // The advertisement belongs to the new manager, which can stop it.
            let other = try emulator.add(HostDescription(name: "other"))
            let stranger = Fixture(host: other.name, emulator: emulator)
            try await stranger.powerOn()
            let device = try PeripheralFixture.device(emulator)
            _ = try await stranger.find(device, host: "other")
            try await peripheral.run(.stopAdvertising)
            let count = emulator.advertisingPackets
            stranger.submit(.startScan(ScanParameters()))
            try await emulator.advance(by: .seconds(5))
            #expect(emulator.advertisingPackets == count)
        }
    }

    @Test(arguments: [
        (#"{"centrals": [{"identifier": ""}]}"#, "hosts[0].centrals[0].identifier"),
        (#"{"centrals": [{"identifier": "a"}, {"identifier": "a"}]}"#, "hosts[0].centrals[1].identifier"),
        (#"{"centrals": [{"identifier": "a", "peers": [{"device": "B"}]}]}"#, "hosts[0].centrals[0].peers[0].device"),
        (
            #"{"centrals": [{"identifier": "a", "peers": [{"device": "A", "subscriptions": ["2A37"]}]}]}"#,
            "hosts[0].centrals[0].peers[0].subscriptions"
        ), (#"{"peripherals": [{"identifier": ""}]}"#, "hosts[0].peripherals[0].identifier"),
        (
            #"{"peripherals": [{"identifier": "a", "advertisement": {"txPowerLevel": 1}}]}"#,
            "hosts[0].peripherals[0].advertisement"
        ),
    ])
    func anImpossibleSavedAppIsRefused(text: String, path: String) {
        let json = #"{"hosts": [{"name": "default", \#(text.dropFirst())], "devices": [{"name": "A"}]}"#
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(json: Data(json.utf8)) }
        #expect(error?.path == path)
    }
}

/// A central and a peripheral manager with restore identifiers, connected and subscribed.
private struct RestorablePair {
    let emulator: Emulator
    let central: any CentralBackend
    let peripheral: PeripheralFixture

    init() async throws {
        emulator = Emulator(configuration: .instant, time: .virtual)
        peripheral = PeripheralFixture(emulator, restoreIdentifier: "peripheral")
        try await peripheral.publish()
        let device = try PeripheralFixture.device(emulator)
        emulator.host.remember(device)
        let peer = try #require(device.identifier())
        central = emulator.makeCentral(RoleOptions(restoreIdentifier: "central"))
        let sink = CollectingSink<CentralEvent>()
        central.activate(sink)
        try await emulator.advance(by: .seconds(1))
        central.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await emulator.advance(by: .seconds(1))
        guard case .connected(_, let link, _, _)? = sink.events.first(where: { $0.kind == .connected }) else {
            throw Unexpected("\(sink.events)")
        }
        central.submit(.request(link: link, operation: op(2), .discoverServices(["C0DE"])))
        try await emulator.runUntilIdle()
        guard case .response(_, _, .services(let services))? = sink.events.last, let service = services.first else {
            throw Unexpected("\(sink.events)")
        }
        central.submit(.request(link: link, operation: op(3), .discoverCharacteristics(of: service.id, ["C0D1"])))
        try await emulator.runUntilIdle()
        guard case .response(_, _, .characteristics(let found))? = sink.events.last, let notifier = found.first else {
            throw Unexpected("\(sink.events)")
        }
        central.submit(.request(link: link, operation: op(4), .setNotifying(notifier.id, true)))
        try await emulator.runUntilIdle()
        try #require(sink.events.last == .response(link: link, operation: op(4), .notifying(true)))
    }
}
