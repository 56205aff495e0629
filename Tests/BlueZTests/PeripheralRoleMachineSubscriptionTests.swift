#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// Subscriptions and values, on the role machine alone, with both kinds of daemons.
@Suite struct PeripheralRoleMachineSubscriptionTests {
    private let one = PeripheralRoleFixture.one
    private let two = PeripheralRoleFixture.two
    private let notifying: UInt32 = 4
    private let indicating: UInt32 = 6

    private func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    private func subscribed(
        _ fixture: PeripheralRoleFixture, _ device: ObjectPath, _ attribute: UInt32, mtu: Int = 185,
        credits: Int = CreditLedger.limit
    ) -> PeripheralEvent {
        .subscribed(central: fixture.peer(device), attribute: id(attribute), mtu: mtu, notifyCredits: credits)
    }

    private func unsubscribed(
        _ fixture: PeripheralRoleFixture, _ device: ObjectPath, _ attribute: UInt32
    ) -> PeripheralEvent {
        .unsubscribed(central: fixture.peer(device), attribute: id(attribute))
    }

    // MARK: Daemons that broadcast

    @Test func anOlderDaemonNamesTheSubscriberAndIsRefusedTheSocket() {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.subscribe(notifying, by: one)
        #expect(fixture.answers[number]?.failure?.name == "org.bluez.Error.NotSupported")
        #expect(fixture.events == [subscribed(fixture, one, notifying)])
    }

    @Test func aCentralsCreditsComeWithItsFirstSubscription() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.subscribe(indicating, by: one)
        fixture.subscribe(notifying, by: two)
        #expect(
            fixture.events == [
                subscribed(fixture, one, notifying), subscribed(fixture, one, indicating, credits: 0),
                subscribed(fixture, two, notifying),
            ])
    }

    @Test func theLastUnsubscriptionEndsAllAndIsReportedAfterAMoment() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.clear()
        fixture.call(fixture.path(notifying), "StopNotify")
        #expect(fixture.events.isEmpty)
        fixture.settle()
        #expect(fixture.events == [unsubscribed(fixture, one, notifying)])
        // Its credits ended with the subscription.
        fixture.subscribe(notifying, by: one)
        #expect(fixture.events.last == subscribed(fixture, one, notifying))
    }

    @Test func aCentralThatAsksOrSubscribesAnewEndsTheWait() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.call(fixture.path(notifying), "StopNotify")
        fixture.clear()
        fixture.subscribe(notifying, by: one)
        #expect(
            fixture.events == [unsubscribed(fixture, one, notifying), subscribed(fixture, one, notifying)])
        fixture.call(fixture.path(notifying), "StopNotify")
        fixture.clear()
        fixture.read(2, by: one)
        #expect(fixture.events.first == unsubscribed(fixture, one, notifying))
        #expect(fixture.events.count == 2)
    }

    @Test func aCentralThatLeavesIsUnsubscribedInTheOrderOfTheAttributes() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(indicating, by: one)
        fixture.subscribe(notifying, by: one)
        fixture.subscribe(notifying, by: two)
        fixture.clear()
        fixture.call(fixture.path(indicating), "StopNotify")
        fixture.setConnected(one, false)
        fixture.settle()
        #expect(
            fixture.events == [unsubscribed(fixture, one, notifying), unsubscribed(fixture, one, indicating)])
    }

    @Test func centralsGoWithThePowerWithoutAWordButTheState() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.clear()
        fixture.call(fixture.path(notifying), "StopNotify")
        fixture.setConnected(one, false)
        fixture.setPowered(false)
        fixture.settle()
        #expect(fixture.events == [.stateChanged(.poweredOff)])
        fixture.setPowered(true)
        fixture.setConnected(one, true)
        fixture.clear()
        fixture.subscribe(notifying, by: one)
        #expect(fixture.events == [subscribed(fixture, one, notifying)])
    }

    /// On a busy machine, ending all links takes longer than other ends wait.
    @Test func S104_endsWaitLongerForThePowerThatIsBeingSwitchedOff() {
        var fixture = PeripheralRoleFixture.serving()
        let timings = PeripheralTimings()
        fixture.subscribe(notifying, by: one)
        fixture.subscribe(notifying, by: two)
        fixture.setConnected(one, false)
        #expect(fixture.durations[.leaving(fixture.peer(one))] == timings.quiescence)
        fixture.settle()
        fixture.clear()
        fixture.beginTurningOff()
        fixture.setConnected(two, false)
        #expect(fixture.durations[.leaving(fixture.peer(two))] == BlueZTimings().turningOff)
        fixture.setPowered(false)
        fixture.settle()
        #expect(fixture.events == [.stateChanged(.poweredOff)])
    }

    @Test func aBroadcastGivesItsCreditBackWithTheNextRoundTrip() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.subscribe(notifying, by: two)
        fixture.clear()
        fixture.update(notifying, [1], to: [one, two])
        fixture.update(notifying, [2], to: [one, two])
        #expect(fixture.broadcasts.map(\.value) == [Data([1]), Data([2])])
        #expect(fixture.broadcasts.allSatisfy { $0.path == fixture.path(notifying) })
        #expect(fixture.waiting == ["Ping"])
        #expect(fixture.events.isEmpty)
        fixture.answer("Ping")
        #expect(fixture.waiting == ["Ping"])
        fixture.answer("Ping")
        #expect(fixture.waiting.isEmpty)
        for device in [one, two] {
            let counts = fixture.events.compactMap { event -> Int? in
                guard case .notifyCredits(fixture.peer(device), let count) = event else { return nil }
                return count
            }
            #expect(counts.reduce(0, +) == 2)
        }
    }

    @Test func creditsOfAnEndedSubscriptionDoNotComeBack() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.update(notifying, [1], to: [one])
        fixture.call(fixture.path(notifying), "StopNotify")
        fixture.settle()
        fixture.subscribe(notifying, by: one)
        fixture.clear()
        fixture.answer("Ping")
        #expect(fixture.events.isEmpty)
    }

    @Test func aSubsetIsBroadcastAndTheLogSaysSoOnce() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.subscribe(notifying, by: two)
        fixture.update(notifying, [1], to: [one])
        fixture.update(notifying, [2], to: [two])
        #expect(fixture.broadcasts.count == 2)
        #expect(fixture.warnings.count == 1)
    }

    @Test func aValueForNobodyIsNotSent() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.update(notifying, [1], to: [two])
        fixture.update(indicating, [1], to: [one])
        #expect(fixture.broadcasts.isEmpty)
        #expect(fixture.waiting.isEmpty)
    }

    @Test func anOldDaemonThatNamesNobodyMeansTheOneThatIsConnected() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.call(fixture.path(notifying), "StartNotify")
        #expect(fixture.events.isEmpty)
        #expect(fixture.warnings.count == 1)
        fixture.setConnected(two, false)
        fixture.call(fixture.path(notifying), "StartNotify")
        #expect(fixture.events == [subscribed(fixture, one, notifying, mtu: 23)])
    }

    // MARK: Daemons with a socket for each central

    @Test func eachCentralHasItsSocketAndGetsItsOwnValues() throws {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        let first = fixture.subscribe(notifying, by: one)
        let second = fixture.subscribe(notifying, by: two)
        let (mine, theirs) = try (#require(fixture.sockets[first]), #require(fixture.sockets[second]))
        fixture.update(notifying, [1], to: [one, two])
        fixture.update(notifying, [2], to: [two])
        #expect(fixture.sent.map(\.socket) == [mine, theirs, theirs])
        #expect(fixture.broadcasts.isEmpty)
        fixture.clear()
        fixture.input(.socket(theirs, .sent(2)))
        #expect(fixture.events == [.notifyCredits(central: fixture.peer(two), count: 2)])
    }

    @Test func whereTheBusPassesNoSocketsValuesAreBroadcast() {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        fixture.host.objects.passesDescriptors = false
        let first = fixture.subscribe(notifying, by: one)
        // The central is known nevertheless.
        #expect(fixture.sockets[first] == nil)
        #expect(fixture.events == [subscribed(fixture, one, notifying)])
        fixture.update(notifying, [1], to: [one])
        #expect(fixture.broadcasts.count == 1)
    }

    @Test func whatAClosedSocketHasNotSentGivesItsCreditsBack() throws {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        let socket = try fixture.socket(subscribing: one, to: notifying)
        fixture.subscribe(indicating, by: one)
        for value: UInt8 in 1...3 { fixture.update(notifying, [value], to: [one]) }
        fixture.input(.socket(socket, .sent(1)))
        fixture.clear()
        fixture.input(.socket(socket, .closed))
        #expect(fixture.events == [.notifyCredits(central: fixture.peer(one), count: 2)])
        fixture.settle()
        #expect(fixture.events.dropFirst() == [unsubscribed(fixture, one, notifying)])
    }

    @Test func aValueForACentralThatHasUnsubscribedGivesItsCreditBack() throws {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        fixture.subscribe(indicating, by: one)
        fixture.clear()
        fixture.update(notifying, [1], to: [one, two])
        #expect(fixture.sent.isEmpty)
        #expect(fixture.events == [.notifyCredits(central: fixture.peer(one), count: 1)])
    }

    @Test func aClosedSocketIsTheEndOfItsSubscription() throws {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        let socket = try fixture.socket(subscribing: one, to: notifying)
        fixture.clear()
        fixture.input(.socket(socket, .closed))
        #expect(fixture.events.isEmpty)
        fixture.settle()
        #expect(fixture.events == [unsubscribed(fixture, one, notifying)])
    }

    @Test func anEmptyValueIsBroadcastAndTheSocketStays() throws {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        fixture.subscribe(notifying, by: one)
        fixture.update(notifying, [], to: [one])
        fixture.update(notifying, [1], to: [one])
        #expect(fixture.broadcasts.map(\.value) == [Data()])
        #expect(fixture.sent.map(\.value) == [Data([1])])
    }

    /// See https://github.com/bluez/bluez/issues/1452.
    @Test(arguments: [true, false]) func theWrongSocketClosesAndItsCentralStaysSubscribed(socketFirst: Bool) throws {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        let mine = try fixture.socket(subscribing: one, to: notifying)
        let theirs = try fixture.socket(subscribing: two, to: notifying)
        fixture.clear()
        // The second central disconnects, and BlueZ closes the first one's socket.
        if socketFirst { fixture.input(.socket(mine, .closed)) }
        fixture.setConnected(two, false)
        if !socketFirst { fixture.input(.socket(mine, .closed)) }
        fixture.settle()
        fixture.settle()
        #expect(fixture.events == [unsubscribed(fixture, two, notifying)])
        #expect(fixture.closed == [theirs])
        fixture.update(notifying, [1], to: [one])
        #expect(fixture.broadcasts.map(\.value) == [Data([1])])
    }

    @Test func oneOfTwoMayUnsubscribe() throws {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        let mine = try fixture.socket(subscribing: one, to: notifying)
        fixture.subscribe(notifying, by: two)
        fixture.clear()
        fixture.input(.socket(mine, .closed))
        // Until the outcome is clear, no value is lost.
        fixture.update(notifying, [1], to: [one, two])
        #expect(fixture.broadcasts.count == 1)
        fixture.settle()
        #expect(fixture.events == [unsubscribed(fixture, one, notifying)])
        fixture.update(notifying, [2], to: [two])
        #expect(fixture.sent.map(\.value) == [Data([2])])
    }

    @Test func aCentralThatLeavesProperlyClosesItsOwnSocket() throws {
        var fixture = PeripheralRoleFixture.serving(isUnicast: true)
        fixture.subscribe(notifying, by: one)
        let theirs = try fixture.socket(subscribing: two, to: notifying)
        fixture.clear()
        fixture.setConnected(two, false)
        fixture.input(.socket(theirs, .closed))
        fixture.settle()
        fixture.settle()
        #expect(fixture.events == [unsubscribed(fixture, two, notifying)])
        fixture.update(notifying, [1], to: [one])
        #expect(fixture.sent.count == 1)
    }

    // MARK: Bonds

    /// See https://github.com/RuckerGauge/blePeripheral/issues/2.
    @Test func aBondedCentralThatReturnsIsSubscribedStill() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.set(one, "org.bluez.Device1", ["Paired": .boolean(true)])
        fixture.subscribe(notifying, by: one)
        fixture.setConnected(one, false)
        fixture.settle()
        fixture.clear()
        fixture.setConnected(one, true)
        #expect(fixture.events == [subscribed(fixture, one, notifying, mtu: 23)])
        fixture.clear()
        fixture.read(3, by: one)
        fixture.read(2, by: one, mtu: 100)
        #expect(fixture.events.first == .mtuChanged(central: fixture.peer(one), mtu: 100))
    }

    @Test func withoutABondAReturningCentralSubscribesAnew() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.subscribe(notifying, by: one)
        fixture.setConnected(one, false)
        fixture.settle()
        fixture.clear()
        fixture.setConnected(one, true)
        #expect(fixture.events.isEmpty)
    }

    @Test func withTheBondGoesWhatIsRemembered() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.set(one, "org.bluez.Device1", ["Paired": .boolean(true)])
        fixture.subscribe(notifying, by: one)
        fixture.setConnected(one, false)
        fixture.settle()
        fixture.set(one, "org.bluez.Device1", ["Paired": .boolean(false)])
        fixture.clear()
        fixture.setConnected(one, true)
        #expect(fixture.events.isEmpty)
    }
}
#endif
