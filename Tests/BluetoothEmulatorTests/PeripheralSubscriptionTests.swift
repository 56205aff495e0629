import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Subscriptions and updates of the peripheral role.
@Suite struct PeripheralSubscriptionTests {
    private func update(_ value: UInt8, _ number: UInt32 = 2, _ centrals: [PeerID]? = nil) -> PeripheralCommand {
        .updateValue(attribute: attribute(number), value: Data([value]), centrals: centrals)
    }

    @Test func S136_subscriptionsAreReportedAndEndWithTheLink() async throws {
        let pair = try await ConnectedPair()
        let count = pair.peripheral.events.count
        try await pair.subscribe("C0D1")
        try await pair.subscribe("C0D3")
        let central = try #require(pair.centralID)
        #expect(
            pair.peripheral.events(from: count) == [
                .subscribed(central: central, attribute: attribute(2), mtu: 185, notifyCredits: 20),
                .subscribed(central: central, attribute: attribute(5), mtu: 185, notifyCredits: 0),
            ])
        try await pair.subscribe("C0D1", false)
        #expect(pair.peripheral.events.last == .unsubscribed(central: central, attribute: attribute(2)))
        try await pair.subscribe("C0D1")
        let peer = try #require(pair.device.identifier())
        let before = pair.peripheral.events.count
        _ = try await pair.central.run(.disconnect(peer: peer))
        #expect(
            pair.peripheral.events(from: before) == [
                .unsubscribed(central: central, attribute: attribute(2)),
                .unsubscribed(central: central, attribute: attribute(5)),
            ])
    }

    @Test func S91_updatesReachTheSubscribersAndGiveTheirCreditsBack() async throws {
        let pair = try await ConnectedPair(.default)
        try await pair.subscribe("C0D1")
        let central = try #require(pair.centralID)
        let before = pair.central.events.count
        let events = try await pair.peripheral.run(update(1), update(1), update(2))
        let id = try pair.dynamic
        #expect(
            pair.central.events(from: before)
                == [1, 1, 2].map {
                    .valueNotified(link: pair.link, attribute: id, value: Data([$0]))
                })
        #expect(events == [.notifyCredits(central: central, count: 3)])
    }

    @Test func aValueForACentralThatHasUnsubscribedGivesItsCreditBack() async throws {
        let pair = try await ConnectedPair()
        try await pair.subscribe("C0D1")
        try await pair.subscribe("C0D3")
        let central = try #require(pair.centralID)
        try await pair.subscribe("C0D1", false)
        let events = try await pair.peripheral.run(update(1, 2, [central]))
        #expect(events == [.notifyCredits(central: central, count: 1)])
    }

    @Test func S137_notificationsLeaveAtConnectionEventsAndWithoutCreditNothingIsSent() async throws {
        let pair = try await ConnectedPair(.default)
        try await pair.subscribe("C0D1")
        let before = pair.central.events.count
        let count = pair.peripheral.events.count
        for value in 0..<25 { pair.peripheral.peripheral.submit(update(UInt8(value))) }
        try await pair.emulator.advance(by: .milliseconds(49))
        // Six packets fit into a connection event.
        #expect(pair.central.events.count == before + 6)
        try await pair.emulator.runUntilIdle()
        #expect(pair.central.events.count == before + 20)
        let credits = pair.peripheral.events(from: count).reduce(0) { sum, event in
            if case .notifyCredits(_, let count) = event { sum + count } else { sum }
        }
        #expect(credits == 20)
        #expect(pair.emulator.trace.count { $0.text == "value without credit dropped" } == 5)
    }

    @Test func S138_onlyListedSubscribersGetAValue() async throws {
        let pair = try await ConnectedPair()
        try pair.emulator.add(HostDescription(name: "second"))
        let second = Fixture(host: "second", emulator: pair.emulator)
        try await second.powerOn()
        let peer = try await second.find(pair.device, host: "second")
        second.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await pair.emulator.advance(by: .seconds(1))
        let link = try #require(second.lastLink)
        let before = second.events.count
        // No central subscribes, so no packet is sent.
        #expect(try await pair.peripheral.run(update(0)).isEmpty)
        try await pair.subscribe("C0D1")
        let first = try #require(pair.centralID)
        let id = try pair.dynamic
        _ = try await second.run(.request(link: link, operation: op(2), .setNotifying(id, true)))
        guard case .subscribed(let other, _, _, _)? = pair.peripheral.events.last else {
            throw Unexpected("\(pair.peripheral.events)")
        }
        #expect(other != first)
        try await pair.peripheral.run(update(1, 2, [other]), update(2, 2, [first]), update(3))
        let values = second.events(from: before).compactMap { event -> Data? in
            if case .valueNotified(_, _, let value) = event { value } else { nil }
        }
        #expect(values == [Data([1]), Data([3])])
    }

    @Test func S139_S140_valuesAreCutToTheMTUAndItsChangeIsReported() async throws {
        let pair = try await ConnectedPair()
        try await pair.subscribe("C0D1")
        let central = try #require(pair.centralID)
        let long = Data(repeating: 1, count: 500)
        try await pair.peripheral.run(.updateValue(attribute: attribute(2), value: long, centrals: nil))
        let id = try pair.dynamic
        #expect(
            pair.central.events.last == .valueNotified(link: pair.link, attribute: id, value: long.prefix(182)))
        pair.device.exchangeMTU(100)
        try await pair.emulator.runUntilIdle()
        #expect(pair.peripheral.events.last == .mtuChanged(central: central, mtu: 100))
        try await pair.peripheral.run(.updateValue(attribute: attribute(2), value: long, centrals: nil))
        #expect(pair.central.events.last == .valueNotified(link: pair.link, attribute: id, value: long.prefix(97)))
    }

    @Test func indicationsGoOneAtATimeWithAConfirmationBetween() async throws {
        let pair = try await ConnectedPair(.default)
        try await pair.subscribe("C0D3")
        let before = pair.central.events.count
        for value in 1...3 { pair.peripheral.peripheral.submit(update(UInt8(value), 5)) }
        try await pair.emulator.advance(by: .milliseconds(49))
        #expect(pair.central.events.count == before + 1)
        try await pair.emulator.advance(by: .milliseconds(50))
        #expect(pair.central.events.count == before + 2)
        try await pair.emulator.runUntilIdle()
        #expect(pair.central.events.count == before + 3)
    }

    @Test func S140_aWishForLowLatencyMakesTheLinkQuicker() async throws {
        let pair = try await ConnectedPair(.default)
        try await pair.subscribe("C0D1")
        let central = try #require(pair.centralID)
        let id = try pair.attributes.characteristic("C0D2")
        func reading() async throws -> Duration {
            let before = pair.central.events.count
            let start = pair.emulator.now
            pair.central.submit(.request(link: pair.link, operation: op(1), .read(id)))
            try await pair.emulator.advance(until: { pair.central.events.count > before })
            return pair.emulator.now - start
        }
        #expect(try await reading() >= .milliseconds(50))
        let events = try await pair.peripheral.run(.setConnectionLatency(central: central, latency: .low))
        #expect(events.isEmpty)
        #expect(try await reading() <= .milliseconds(25))
        try await pair.peripheral.run(.setConnectionLatency(central: central, latency: .high))
        #expect(try await reading() >= .milliseconds(200))
    }

    @Test func aCentralOutOfRangeLeavesAfterTheSupervisionTimeout() async throws {
        let pair = try await ConnectedPair()
        try await pair.subscribe("C0D1")
        let central = try #require(pair.centralID)
        pair.device.setProximity(.outOfRange)
        try await pair.emulator.advance(by: .milliseconds(3900))
        #expect(pair.peripheral.events.last != .unsubscribed(central: central, attribute: attribute(2)))
        try await pair.emulator.advance(by: .milliseconds(200))
        #expect(pair.peripheral.events.last == .unsubscribed(central: central, attribute: attribute(2)))
    }

    @Test func theTraceContainsBothRoles() async throws {
        let pair = try await ConnectedPair()
        try await pair.subscribe("C0D1")
        try await pair.peripheral.run(update(1))
        let lines = pair.emulator.trace.filter { $0.source == "peripheral 2" }.map(\.text)
        #expect(lines.contains { $0.hasPrefix("addService operation=1 service=1:C0DE") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("subscribed ") })
        #expect(lines.contains { $0.hasPrefix("updateValue attribute=2:C0DE/C0D1 value=0x01") })
    }
}
