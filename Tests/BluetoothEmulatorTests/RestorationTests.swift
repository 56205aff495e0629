import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Apps that the system terminates and relaunches.
@Suite struct RestorationTests {
    private func central(_ emulator: Emulator) -> (any CentralBackend, CollectingSink<CentralEvent>) {
        (
            emulator.makeCentral(RoleOptions(restoreIdentifier: "app")), CollectingSink<CentralEvent>()
        )
    }

    private func state(_ event: CentralEvent?) throws -> RestoredCentralState {
        guard case .restored(let state)? = event else { throw Unexpected("\(String(describing: event))") }
        return state
    }

    @Test func S141_S142_connectionsSubscriptionsAndTheScanOutliveTheApp() async throws {
        let other = Fixture()
        let emulator = other.emulator
        let near = try emulator.add(ContractPeer.description)
        let far = try emulator.add(
            PeripheralDescription(
                name: "Far", advertising: [AdvertisingDescription(AdvertisingData(), isEnabled: false)]))
        emulator.host.remember(near)
        emulator.host.remember(far)
        let (first, sink) = central(emulator)
        first.activate(sink)
        let nearID = try #require(near.identifier())
        let farID = try #require(far.identifier())
        try await emulator.advance(by: .seconds(1))
        first.submit(.connect(peer: nearID, operation: op(3), options: ConnectOptions()))
        first.submit(.connect(peer: farID, operation: op(4), options: ConnectOptions()))
        try await emulator.advance(by: .seconds(1))
        let opened = sink.events.compactMap { event -> LinkID? in
            if case .connected(_, let link, _, _) = event { link } else { nil }
        }
        let link = try #require(opened.first)
        let path: CharacteristicPath = "C0DE0103-7A3D-4C5B-9E1F-2B6A8D4C0F01"
        first.submit(.request(link: link, operation: op(5), .discoverServices([ContractPeer.uuid("0001")])))
        try await emulator.advance(by: .seconds(1))
        guard case .response(_, _, .services(let services))? = sink.events.last, let service = services.first else {
            throw Unexpected("\(sink.events)")
        }
        first.submit(.request(link: link, operation: op(6), .discoverCharacteristics(of: service.id, [path.uuid])))
        try await emulator.advance(by: .seconds(1))
        guard case .response(_, _, .characteristics(let found))? = sink.events.last, let notifier = found.first else {
            throw Unexpected("\(sink.events)")
        }
        first.submit(.request(link: link, operation: op(7), .setNotifying(notifier.id, true)))
        first.submit(.startScan(ScanParameters(services: ["180D"])))
        try await emulator.advance(by: .seconds(1))
        emulator.host.terminateApp(restoreIdentifier: "app")
        try await emulator.advance(by: .seconds(1))
        let count = sink.events.count
        #expect(near.connectionCount == 1)

        let (second, restored) = central(emulator)
        second.activate(restored)
        try await emulator.advance(by: .seconds(1))
        let state = try state(restored.events.first)
        #expect(restored.events.dropFirst().first == .stateChanged(.poweredOn))
        #expect(state.scan == ScanParameters(services: ["180D"]))
        let peers = Dictionary(uniqueKeysWithValues: state.peers.map { ($0.summary.id, $0) })
        #expect(peers[farID]?.link == nil)
        #expect(peers[nearID]?.operation == op(3))
        let kept = try #require(peers[nearID]?.link)
        #expect(kept != link)
        #expect(peers[nearID]?.services.flatMap(\.notifying) == [notifier.id])
        near.notify(path, value: Data([9]))
        far.setAdvertising(true)
        try await emulator.advance(by: .seconds(1))
        #expect(restored.events.contains(.valueNotified(link: kept, attribute: notifier.id, value: Data([9]))))
        #expect(
            restored.events.contains { event in
                if case .connected(farID, _, op(4), _) = event { true } else { false }
            })
        #expect(sink.events.count == count)
    }

    @Test func S141_aStateThatIsGivenIsRestoredOnce() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        let peer = try #require(device.identifier())
        fixture.emulator.host.remember(device)
        fixture.emulator.host.setRestoredState(
            RestoredCentralState(peers: [.init(summary: PeerSummary(id: peer), operation: op(8))]), for: "app")
        fixture.emulator.host.connectOtherApp(to: device)
        try await fixture.emulator.advance(by: .seconds(1))
        let (first, sink) = central(fixture.emulator)
        first.activate(sink)
        try await fixture.emulator.advance(by: .seconds(1))
        let state = try state(sink.events.first)
        #expect(state.peers.first?.link != nil)
        #expect(state.peers.first?.summary.name == "Contract Peer")
        let (second, later) = central(fixture.emulator)
        second.activate(later)
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(later.events == [.stateChanged(.poweredOn)])
    }

    @Test func S143_servicesSubscribersAndAdvertisingOutliveTheApp() async throws {
        let central = Fixture()
        let emulator = central.emulator
        let first = PeripheralFixture(emulator, restoreIdentifier: "app")
        try await first.publish()
        try await central.powerOn()
        let device = try PeripheralFixture.device(emulator)
        let link = try await central.connect(device)
        let attributes = try await central.attributes(link)
        let id = try attributes.characteristic("C0D1")
        _ = try await central.run(.request(link: link, operation: op(1), .setNotifying(id, true)))
        let host = try #require(emulator.host(named: "peripheral 1"))
        host.terminateApp(restoreIdentifier: "app")
        try await emulator.runUntilIdle()
        let before = central.events.count
        // No manager answers while the app is terminated.
        _ = try await central.run(.request(link: link, operation: op(2), .read(id)))
        #expect(
            central.events(from: before) == [
                .response(link: link, operation: op(2), .failure(.att(0x0E, operation: "read")))
            ])
        let stranger = PeripheralFixture(emulator)
        let second = PeripheralFixture(emulator, restoreIdentifier: "app")
        #expect(emulator.hosts.map(\.name) == ["default", "peripheral 1", "peripheral 2"])
        try await stranger.powerOn()
        try await second.powerOn()
        guard case .restored(let state)? = second.events.first, case .notifyCredits(let peer, 20) = second.events[1]
        else { throw Unexpected("\(second.events)") }
        #expect(state.services == [PeripheralFixture.service])
        #expect(state.advertisement == PeripheralFixture.advertisement)
        #expect(state.subscriptions == [.init(central: peer, attribute: attribute(2), mtu: 185)])
        try await second.run(.updateValue(attribute: attribute(2), value: Data([4]), centrals: nil))
        #expect(central.events.last == .valueNotified(link: link, attribute: id, value: Data([4])))
        central.submit(.request(link: link, operation: op(3), .read(id)))
        _ = try await second.nextRequest(from: 0)
        try second.answer(Data([5]))
        try await emulator.runUntilIdle()
        #expect(central.events.last == .response(link: link, operation: op(3), .value(Data([5]))))
    }

    @Test func S143_aStateThatIsGivenIsPublishedAndAdvertised() async throws {
        let central = Fixture()
        let host = try central.emulator.add(HostDescription(name: "phone"))
        host.setRestoredState(
            RestoredPeripheralState(
                services: [PeripheralFixture.service], advertisement: PeripheralFixture.advertisement), for: "app")
        let fixture = PeripheralFixture(central.emulator, host: "phone", restoreIdentifier: "app")
        try await fixture.powerOn()
        guard case .restored(let state)? = fixture.events.first else { throw Unexpected("\(fixture.events)") }
        #expect(state.services == [PeripheralFixture.service])
        try await central.powerOn()
        let link = try await central.connect(try PeripheralFixture.device(central.emulator, host: "phone"))
        #expect(try await central.attributes(link).services.map(\.uuid) == ["C0DE"])
    }
}
