import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Two hosts that connect to each other, with one link for a pair of addresses.
@Suite struct SharedLinkTests {
    /// A laptop that is connected and subscribed to a phone; both have both roles.
    private struct Pair {
        let laptop: Fixture
        let phone: Fixture
        let served: PeripheralFixture
        let device: EmulatedDevice
        let link: LinkID
        /// The laptop, as the phone knows it.
        let central: PeerID

        var emulator: Emulator { laptop.emulator }

        init(_ configuration: EmulatorConfiguration = .instant) async throws {
            laptop = Fixture(configuration)
            try laptop.emulator.add(HostDescription(name: "phone"))
            phone = Fixture(configuration, host: "phone", emulator: laptop.emulator)
            served = PeripheralFixture(laptop.emulator, host: "phone")
            try await served.publish()
            try await laptop.powerOn()
            try await phone.powerOn()
            device = try PeripheralFixture.device(laptop.emulator, host: "phone")
            link = try await laptop.connect(device)
            let id = try await laptop.attributes(link).characteristic("C0D1")
            _ = try await laptop.run(.request(link: link, operation: op(1), .setNotifying(id, true)))
            guard case .subscribed(let central, _, _, _)? = served.events.last else {
                throw Unexpected("\(served.events)")
            }
            self.central = central
        }

        /// Connects the phone to the laptop, which advertises nothing.
        func connectBack() async throws -> LinkID {
            let events = try await phone.run(.connect(peer: central, operation: op(2), options: ConnectOptions()))
            guard case .connected(central, let link, op(2), _)? = events.first else { throw Unexpected("\(events)") }
            return link
        }

        func ends(_ fixture: Fixture) -> [DisconnectReason] {
            fixture.events.compactMap { event in
                if case .disconnected(_, let reason, _, _, _) = event { reason } else { nil }
            }
        }
    }

    @Test func aSecondConnectIsAnsweredWithTheLinkThatStands() async throws {
        let pair = try await Pair()
        let own = PeripheralFixture(pair.emulator, host: "default")
        try await own.powerOn()
        try await own.run(.addService(operation: op(1), service: PeripheralFixture.service))
        let count = pair.laptop.events.count
        let link = try await pair.connectBack()
        // The laptop's app receives no event, because its link is unchanged.
        #expect(pair.laptop.events.count == count)
        #expect(pair.emulator.advertisingPackets > 0)
        let found = try await pair.phone.attributes(link)
        #expect(found.services.map(\.uuid) == ["C0DE"])
        let fixed = try found.characteristic("C0D2")
        let events = try await pair.phone.run(.request(link: link, operation: op(3), .read(fixed)))
        #expect(events == [.response(link: link, operation: op(3), .value(Data([1, 2, 3])))])
    }

    @Test func aCentralIsKnownToTheHostThatItConnectedTo() async throws {
        let pair = try await Pair()
        #expect(pair.phone.central.knownPeers([pair.central]).map(\.id) == [pair.central])
        _ = try await pair.connectBack()
        #expect(pair.ends(pair.phone).isEmpty)
    }

    @Test func theLinkStandsUntilBothGiveItUp() async throws {
        let pair = try await Pair()
        _ = try await pair.connectBack()
        let peer = try #require(pair.device.identifier())
        _ = try await pair.laptop.run(.disconnect(peer: peer))
        #expect(pair.ends(pair.laptop) == [.local])
        #expect(pair.ends(pair.phone) == [])
        #expect(pair.served.events.last == .unsubscribed(central: pair.central, attribute: attribute(2)))
        // The link still exists, so connecting again needs no packet.
        try await pair.served.run(.stopAdvertising)
        let again = try await pair.laptop.run(.connect(peer: peer, operation: op(4), options: ConnectOptions()))
        #expect(again.contains { $0.kind == .connected })
        _ = try await pair.laptop.run(.disconnect(peer: peer))
        _ = try await pair.phone.run(.disconnect(peer: pair.central))
        #expect(pair.ends(pair.phone) == [.local])
        // The link is closed, and no device advertises.
        let events = try await pair.laptop.run(.connect(peer: peer, operation: op(5), options: ConnectOptions()))
        #expect(events == [])
    }

    @Test func aLinkThatIsLostIsLostForBoth() async throws {
        let pair = try await Pair()
        _ = try await pair.connectBack()
        pair.device.setProximity(.outOfRange)
        try await pair.emulator.advance(by: .seconds(10))
        #expect(pair.ends(pair.laptop) == [.timeout])
        #expect(pair.ends(pair.phone) == [.timeout])
        #expect(pair.device.connectionCount == 0)
    }

    @Test func hostsThatConnectAtTheSameTimeShareOneLink() async throws {
        let laptop = Fixture(.default)
        try laptop.emulator.add(HostDescription(name: "phone"))
        let phone = Fixture(.default, host: "phone", emulator: laptop.emulator)
        let sides = [
            PeripheralFixture(laptop.emulator, host: "default"), PeripheralFixture(laptop.emulator, host: "phone"),
        ]
        for side in sides { try await side.publish() }
        try await laptop.powerOn()
        try await phone.powerOn()
        let toPhone = try await laptop.find(try PeripheralFixture.device(laptop.emulator, host: "phone"))
        let toLaptop = try await phone.find(
            try PeripheralFixture.device(laptop.emulator, host: "default"), host: "phone")
        laptop.submit(.connect(peer: toPhone, operation: op(1), options: ConnectOptions()))
        phone.submit(.connect(peer: toLaptop, operation: op(1), options: ConnectOptions()))
        try await laptop.emulator.advance(by: .seconds(5))
        #expect(laptop.events.filter { $0.kind == .connected }.count == 1)
        #expect(phone.events.filter { $0.kind == .connected }.count == 1)
        // The hosts have one link, so losing it ends both directions.
        try PeripheralFixture.device(laptop.emulator, host: "phone").setProximity(.outOfRange)
        try await laptop.emulator.advance(by: .seconds(10))
        #expect(laptop.events.contains { $0.kind == .disconnected })
        #expect(phone.events.contains { $0.kind == .disconnected })
    }

    @Test func whatOneDirectionPairsIsEncryptedInBoth() async throws {
        let pair = try await Pair()
        let own = PeripheralFixture(pair.emulator, host: "default")
        try await own.powerOn()
        try await own.run(.addService(operation: op(1), service: PeripheralFixture.service))
        let back = try await pair.connectBack()
        let theirs = try await pair.laptop.attributes(pair.link).characteristic("C0D4")
        let ours = try await pair.phone.attributes(back).characteristic("C0D4")
        let paired = try await pair.laptop.run(
            .request(link: pair.link, operation: op(8), .setNotifying(theirs, true)))
        #expect(paired.last == .response(link: pair.link, operation: op(8), .notifying(true)))
        // The other direction needs no pairing, so the user is not asked.
        let agent = pair.emulator.makePairing()
        let sink = CollectingSink<PairingEvent>()
        agent.activate(sink)
        let events = try await pair.phone.run(
            .request(link: back, operation: op(9), .setNotifying(ours, true)))
        #expect(events.last == .response(link: back, operation: op(9), .notifying(true)))
        #expect(sink.events.isEmpty)
    }
}
