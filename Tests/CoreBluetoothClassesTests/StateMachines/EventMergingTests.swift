import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

/// The events that later ones make void while a queue is busy.
@Suite struct EventMergingTests {
    private static let peer = PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    private static let other = PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)))
    private static let operation = OperationID(rawValue: 1)

    private static func link(_ number: UInt64) -> LinkID { LinkID(rawValue: number) }
    private static func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    private static func service(_ number: UInt32) -> ServiceRecord {
        ServiceRecord(id: id(number), uuid: "FFF0", isPrimary: true)
    }

    private func merged(_ events: [CentralEvent]) -> [CentralEvent] {
        CentralEventMerging.merged(events).compactMap { $0 }
    }

    private func merged(_ events: [PeripheralEvent]) -> [PeripheralEvent] {
        PeripheralEventMerging.merged(events).compactMap { $0 }
    }

    // MARK: The central role

    @Test func theLastNameOfEachDeviceStays() {
        let last = CentralEvent.nameChanged(peer: Self.peer, name: "c", source: .gap)
        let others = CentralEvent.nameChanged(peer: Self.other, name: "x", source: .gap)
        let events = ["a", "b"].map { CentralEvent.nameChanged(peer: Self.peer, name: $0, source: .gap) }
        #expect(merged([events[0], others, events[1], last]) == [others, last])
    }

    @Test func theLastConnectionEventOfEachDeviceStays() {
        let events = [true, false, true, false].map { CentralEvent.connectionEvent(peer: Self.peer, isConnected: $0) }
        #expect(merged(events) == [events[3]])
    }

    private func connected(_ number: UInt64) -> CentralEvent {
        .connected(
            peer: Self.peer, link: Self.link(number), operation: Self.operation,
            parameters: LinkParameters(mtu: 23, writeCredits: 1))
    }

    private func disconnected(_ number: UInt64, isReconnecting: Bool) -> CentralEvent {
        .disconnected(
            link: Self.link(number), reason: .remote, at: Date(timeIntervalSince1970: 0),
            isReconnecting: isReconnecting)
    }

    @Test func linksThatCameAndWentAreGoneWithTheirEvents() {
        let events = [
            disconnected(1, isReconnecting: true), connected(2), .mtuChanged(link: Self.link(2), mtu: 100),
            .servicesChanged(link: Self.link(2), removed: [], added: [Self.service(1)]),
            .writeCredits(link: Self.link(2), count: 1), disconnected(2, isReconnecting: true), connected(3),
            .mtuChanged(link: Self.link(3), mtu: 100), disconnected(3, isReconnecting: true), connected(4),
        ]
        #expect(merged(events) == [disconnected(1, isReconnecting: true), connected(4)])
    }

    @Test func aLinkAfterWhichNoAttemptFollowsStays() {
        let events = [connected(1), disconnected(1, isReconnecting: false)]
        #expect(merged(events) == events)
    }

    @Test func changesOfServicesAreOne() {
        let events: [CentralEvent] = [
            .servicesChanged(link: Self.link(1), removed: [Self.id(1)], added: [Self.service(2)]),
            .servicesChanged(link: Self.link(1), removed: [Self.id(2)], added: [Self.service(3)]),
            .servicesChanged(link: Self.link(1), removed: [Self.id(3), Self.id(7)], added: [Self.service(4)]),
        ]
        #expect(
            merged(events) == [
                .servicesChanged(link: Self.link(1), removed: [Self.id(1), Self.id(7)], added: [Self.service(4)])
            ])
    }

    @Test func changesOfServicesOnBothSidesOfADiscoveryStay() {
        let events: [CentralEvent] = [
            .servicesChanged(link: Self.link(1), removed: [], added: [Self.service(2)]),
            .response(link: Self.link(1), operation: Self.operation, .services([Self.service(2)])),
            .servicesChanged(link: Self.link(1), removed: [Self.id(2)], added: []),
        ]
        #expect(merged(events) == events)
    }

    // MARK: The peripheral role

    @Test func aCentralThatCameAndLeftIsGone() {
        let events: [PeripheralEvent] = [
            .subscribed(central: Self.peer, attribute: Self.id(1), mtu: 23, notifyCredits: 20),
            .subscribed(central: Self.peer, attribute: Self.id(2), mtu: 23, notifyCredits: 0),
            .unsubscribed(central: Self.peer, attribute: Self.id(1)),
            .unsubscribed(central: Self.peer, attribute: Self.id(2)),
        ]
        #expect(merged(events).isEmpty)
    }

    @Test func requestsThatTheBackendAnsweredAndChannelsThatWereClosedAreGone() {
        let part = WritePart(attribute: Self.id(1), offset: 0, value: Data())
        let request = RequestID(rawValue: 1)
        let write = RequestID(rawValue: 2)
        let delivered = PeripheralEvent.requestExpired(request: RequestID(rawValue: 9))
        let open = PeripheralEvent.channelOpened(
            channel: ChannelID(rawValue: 2), psm: 0x80, central: Self.peer, credits: 1)
        let events: [PeripheralEvent] = [
            .readRequested(request: request, central: Self.peer, attribute: Self.id(1), offset: 0, mtu: 23),
            .channelOpened(channel: ChannelID(rawValue: 1), psm: 0x80, central: Self.peer, credits: 1), open,
            .requestExpired(request: request), delivered, .channel(ChannelID(rawValue: 1), .closed),
            .writeRequested(request: write, central: Self.peer, mtu: 23, wantsResponse: true, parts: [part]),
            .requestExpired(request: write),
        ]
        #expect(merged(events) == [open, delivered])
    }

    @Test func theLastMTUOfACentralStaysUnlessASubscriptionHasANewerOne() {
        let last = PeripheralEvent.mtuChanged(central: Self.peer, mtu: 200)
        let subscribed = PeripheralEvent.subscribed(
            central: Self.other, attribute: Self.id(1), mtu: 100, notifyCredits: 20)
        let events: [PeripheralEvent] = [
            .mtuChanged(central: Self.peer, mtu: 100), .mtuChanged(central: Self.other, mtu: 50), subscribed, last,
        ]
        #expect(merged(events) == [subscribed, last])
    }

    /// The subscribers, and the room for values to them, are the same with all events as with the remaining ones.
    @Test(arguments: Array(UInt64(1)...500)) func mergedSubscriptionsLeadToTheSameSubscribers(seed: UInt64) {
        var random = SeededNumbers(state: seed)
        var on: [PeerID: Set<UInt32>] = [:]
        var events: [PeripheralEvent] = []
        for _ in 0..<(20 + random.next() % 60) {
            let central = random.next() % 2 == 0 ? Self.peer : Self.other
            let attribute = UInt32(random.next() % 3)
            let isFirst = on[central, default: []].isEmpty
            if on[central, default: []].remove(attribute) != nil {
                events.append(.unsubscribed(central: central, attribute: Self.id(attribute)))
            } else {
                on[central, default: []].insert(attribute)
                events.append(
                    .subscribed(
                        central: central, attribute: Self.id(attribute), mtu: 23, notifyCredits: isFirst ? 5 : 0))
            }
        }
        let handled = Int(random.next() % UInt64(events.count))
        var all = SubscriberTable()
        for event in events.prefix(handled) { Self.apply(event, to: &all) }
        // Some of the credits are spent when the queue gets stuck.
        for attribute in all.attributes { _ = all.send(Data(), of: attribute, to: nil) }
        var few = all
        let left = merged(Array(events.dropFirst(handled)))
        for event in events.dropFirst(handled) { Self.apply(event, to: &all) }
        for event in left { Self.apply(event, to: &few) }
        #expect(few.attributes == all.attributes, "seed \(seed)")
        #expect(left.count <= 2 * (2 * 3) + 2, "seed \(seed)")
        for central in [Self.peer, Self.other] {
            #expect(
                Self.room(for: central, on[central] ?? [], few) == Self.room(for: central, on[central] ?? [], all),
                "seed \(seed)")
        }
    }

    private static func apply(_ event: PeripheralEvent, to table: inout SubscriberTable) {
        switch event {
        case .subscribed(let central, let attribute, let mtu, let credits):
            _ = table.subscribe(central, to: attribute, mtu: mtu, credits: credits)
        case .unsubscribed(let central, let attribute): _ = table.unsubscribe(central, from: attribute)
        default: break
        }
    }

    /// Returns the number of values that may be sent to a central for each of its subscriptions.
    private static func room(for central: PeerID, _ attributes: Set<UInt32>, _ table: SubscriberTable) -> [Int] {
        attributes.sorted().map { attribute in
            var table = table
            var count = 0
            while count < 100, table.send(Data(), of: id(attribute), to: [central]) != nil { count += 1 }
            return count
        }
    }

    // MARK: Pairing

    @Test func questionsThatAreVoidAndEarlierResultsAreGone() {
        let error = BackendError(.peerDisconnected, operation: "pair")
        let failed = PairingEvent.pairingFailed(peer: Self.peer, operation: nil, error: error)
        let asked = PairingEvent.pairingFailed(peer: Self.peer, operation: Self.operation, error: error)
        func question(_ number: UInt64, _ peer: PeerID = Self.peer) -> PairingEvent {
            .requested(request: PairingRequestID(rawValue: number), peer: peer, question: .consent)
        }
        let open = question(3, Self.other)
        let events = [
            question(1), failed, question(2), .cancelled(request: PairingRequestID(rawValue: 2)), asked, open, failed,
        ]
        #expect(PairingEventMerging.merged(events).compactMap { $0 } == [asked, open, failed])
    }
}

/// A sequence of random numbers from a seed.
private struct SeededNumbers {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
