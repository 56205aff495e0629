import BluetoothBackend
import BluetoothInstrumentation
import BluetoothSupport
import FoundationEssentials
import Synchronization
import Testing

/// The effects of a plan on commands and events.
struct FaultInjectionTests {
    private func place(_ kind: CentralCommand.Kind) -> FaultPlace { FaultPlace(.centralCommand(kind)) }
    private func place(_ kind: CentralEvent.Kind) -> FaultPlace { FaultPlace(.centralEvent(kind)) }

    // MARK: Nothing

    @Test func withoutAFaultAllPasses() throws {
        let fixture = try FaultFixture()
        #expect(fixture.backend.name == "test")
        #expect(fixture.backend.authorization() == .denied)
        #expect(fixture.backend.supports(.pairing))
        #expect(fixture.central.knownPeers([Samples.peer]).map(\.id) == [Samples.peer])
        #expect(fixture.central.connectedPeers(offering: []).map(\.id) == [Samples.peer])
        for command in Samples.centralCommands { fixture.central.submit(command) }
        #expect(fixture.submitted() == Samples.centralCommands)
        for event in Samples.centralEvents { fixture.base.central.role.deliver(event) }
        #expect(fixture.takeEvents() == Samples.centralEvents)
        fixture.central.invalidate()
        #expect(fixture.base.central.role.isInvalidated)
    }

    // MARK: Errors

    @Test func aFailedCommandDoesNotReachTheBackend() throws {
        let fixture = try FaultFixture(Fault(place(.read), .nth(number: 2), .error(Samples.error)))
        fixture.central.submit(fixture.read(10))
        fixture.base.central.role.deliver(fixture.value(10))
        fixture.central.submit(fixture.read(11))
        #expect(fixture.submitted() == [fixture.read(10)])
        #expect(fixture.takeEvents() == [fixture.value(10), fixture.failure(11)])
    }

    @Test func aMadeUpErrorKeepsItsPlaceAmongTheAnswers() throws {
        let fixture = try FaultFixture(Fault(place(.read), .nth(number: 2), .error(Samples.error)))
        for number in 10...12 { fixture.central.submit(fixture.read(UInt64(number))) }
        #expect(fixture.takeEvents().isEmpty)
        fixture.base.central.role.deliver(fixture.value(10), fixture.value(12))
        #expect(fixture.takeEvents() == [fixture.value(10), fixture.failure(11), fixture.value(12)])
    }

    @Test func anAnswerIsReplacedByAnError() throws {
        let fixture = try FaultFixture(Fault(place(.valueRead), .once, .error(Samples.error)))
        fixture.central.submit(fixture.read(10))
        fixture.base.central.role.deliver(fixture.value(10))
        #expect(fixture.takeEvents() == [fixture.failure(10)])
    }

    @Test func aFailedConnectNeverBegins() throws {
        let fixture = try FaultFixture(Fault(place(.connect), .nth(number: 2), .error(Samples.error)))
        fixture.central.submit(
            .connect(peer: Samples.otherPeer, operation: fixture.operation(20), options: ConnectOptions()))
        #expect(fixture.submitted().isEmpty)
        #expect(
            fixture.takeEvents() == [
                .connectFailed(peer: Samples.otherPeer, operation: fixture.operation(20), error: Samples.error)
            ])
    }

    // MARK: Loss, corruption, repetition

    @Test func aLostCommandIsNeverAnsweredAndOthersAre() throws {
        let fixture = try FaultFixture(Fault(place(.read), .once, .drop))
        fixture.central.submit(fixture.read(10))
        fixture.central.submit(fixture.read(11))
        #expect(fixture.submitted() == [fixture.read(11)])
        fixture.base.central.role.deliver(fixture.value(11))
        #expect(fixture.takeEvents() == [fixture.value(11)])
    }

    @Test func aLostAnswerDoesNotBlockMadeUpOnes() throws {
        let fixture = try FaultFixture(
            Fault(place(.valueRead), .once, .drop), Fault(place(.read), .nth(number: 2), .error(Samples.error)))
        fixture.central.submit(fixture.read(10))
        fixture.central.submit(fixture.read(11))
        fixture.base.central.role.deliver(fixture.value(10))
        #expect(fixture.takeEvents() == [fixture.failure(11)])
    }

    @Test func anAnswerThatMeetsTheEndOfTheLinkIsLostAndTheCommandHasPassed() throws {
        let fixture = try FaultFixture(Fault(place(.written), .once, .disconnect(reason: .timeout)))
        let write = CentralCommand.request(
            link: fixture.link, operation: fixture.operation(10), .write(fixture.attribute, Data([7])))
        fixture.central.submit(write)
        fixture.central.submit(fixture.read(11))
        fixture.base.central.role.deliver(
            .response(link: fixture.link, operation: fixture.operation(10), .written), fixture.value(11))
        #expect(fixture.takeEvents().isEmpty)
        #expect(fixture.submitted() == [write, fixture.read(11), .disconnect(peer: Samples.peer)])
        fixture.base.central.role.deliver(fixture.end(.local))
        #expect(fixture.takeEvents() == [fixture.end(.timeout)])
    }

    @Test func corruptionFlipsOneBitAndTheSameOneWithTheSameSeed() throws {
        func corrupted(seed: UInt64) throws -> UInt8 {
            let fixture = try FaultFixture(seed: seed, Fault(place(.valueNotified), .once, .corrupt))
            fixture.base.central.role.deliver(fixture.notification(0))
            guard case .valueNotified(_, _, let value)? = fixture.takeEvents().first else { return 0 }
            return value.first ?? 0
        }
        let byte = try corrupted(seed: 5)
        #expect(byte.nonzeroBitCount == 1)
        #expect(try corrupted(seed: 5) == byte)
        #expect(Set(try (1...20).map { try corrupted(seed: $0) }).count > 1)
    }

    @Test func anEmptyValueIsCorruptedToOneByte() throws {
        let fixture = try FaultFixture(Fault(place(.writeCommand), .once, .corrupt))
        fixture.central.submit(.writeCommand(link: fixture.link, attribute: fixture.attribute, value: Data()))
        guard case .writeCommand(_, _, let value)? = fixture.submitted().first else {
            Issue.record("the command passes")
            return
        }
        #expect(value.count == 1)
    }

    @Test func aRepeatedOperationIsAnsweredOnce() throws {
        let fixture = try FaultFixture(Fault(place(.read), .once, .duplicate))
        fixture.central.submit(fixture.read(10))
        let commands = fixture.submitted()
        #expect(commands.count == 2)
        #expect(commands.first == fixture.read(10))
        let repeated = try #require(commands.last.flatMap(\.readOperation))
        #expect(repeated != fixture.operation(10))
        fixture.base.central.role.deliver(fixture.value(10), fixture.value(repeated.rawValue))
        #expect(fixture.takeEvents() == [fixture.value(10)])
    }

    @Test func aRepeatedNotificationComesTwice() throws {
        let fixture = try FaultFixture(Fault(place(.valueNotified), .once, .duplicate))
        fixture.base.central.role.deliver(fixture.notification(1), fixture.notification(2))
        #expect(fixture.takeEvents() == [fixture.notification(1), fixture.notification(1), fixture.notification(2)])
    }

    // MARK: Delays

    @Test func whatFollowsADelayedEventOnItsLinkWaitsBehindIt() throws {
        let fixture = try FaultFixture(Fault(place(.valueNotified), .once, .delay(by: .milliseconds(30))))
        fixture.base.central.role.deliver(fixture.notification(1), fixture.notification(2))
        fixture.base.central.role.deliver(.discovered(Samples.discovery))
        #expect(fixture.takeEvents() == [.discovered(Samples.discovery)])
        #expect(fixture.backend.heldBack == 2)
        fixture.base.testClock.advance(by: .milliseconds(29))
        #expect(fixture.takeEvents().isEmpty)
        fixture.base.testClock.advance(by: .milliseconds(1))
        #expect(fixture.takeEvents() == [fixture.notification(1), fixture.notification(2)])
        #expect(fixture.backend.heldBack == 0)
        fixture.base.central.role.deliver(fixture.notification(3))
        #expect(fixture.takeEvents() == [fixture.notification(3)])
    }

    @Test func eachDelayIsMeasuredFromItsOwnArrival() throws {
        let fixture = try FaultFixture(
            Fault(place(.valueNotified), .rate(probability: 1), .delay(by: .milliseconds(30))))
        fixture.base.central.role.deliver(fixture.notification(1))
        #expect(fixture.takeEvents().isEmpty)
        fixture.base.testClock.advance(by: .milliseconds(20))
        fixture.base.central.role.deliver(fixture.notification(2))
        #expect(fixture.takeEvents().isEmpty)
        fixture.base.testClock.advance(by: .milliseconds(10))
        #expect(fixture.takeEvents() == [fixture.notification(1)])
        fixture.base.testClock.advance(by: .milliseconds(20))
        #expect(fixture.takeEvents() == [fixture.notification(2)])
    }

    @Test func whatFollowsADelayedCommandOnItsLinkWaitsBehindIt() throws {
        let fixture = try FaultFixture(Fault(place(.writeCommand), .once, .delay(by: .seconds(1))))
        fixture.central.submit(fixture.write(1))
        fixture.central.submit(fixture.read(10))
        fixture.central.submit(.stopScan)
        #expect(fixture.submitted() == [.stopScan])
        fixture.base.testClock.advance(by: .seconds(1))
        #expect(fixture.submitted() == [fixture.write(1), fixture.read(10)])
    }

    @Test func aMadeUpAnswerDoesNotOvertakeADelayedEvent() throws {
        let fixture = try FaultFixture(
            Fault(place(.valueNotified), .once, .delay(by: .seconds(1))),
            Fault(place(.read), .once, .error(Samples.error)))
        fixture.base.central.role.deliver(fixture.notification(1))
        #expect(fixture.takeEvents().isEmpty)
        fixture.central.submit(fixture.read(10))
        #expect(fixture.takeEvents().isEmpty)
        fixture.base.testClock.advance(by: .seconds(1))
        #expect(fixture.takeEvents() == [fixture.notification(1), fixture.failure(10)])
    }

    @Test func afterDeliveryWaitsForWhatWasReportedAndNotForWhatIsHeldBack() throws {
        let fixture = try FaultFixture(Fault(place(.valueNotified), .once, .delay(by: .seconds(1))))
        let seen = Lock<[CentralEvent]?>(nil)
        fixture.base.central.role.deliver(fixture.notification(1), .discovered(Samples.discovery))
        fixture.base.central.role.sink?.afterDelivery { seen.withLock { $0 = fixture.takeEvents() } }
        fixture.sink.drain()
        #expect(seen.withLock { $0 } == [.discovered(Samples.discovery)])
        #expect(fixture.backend.heldBack == 1)
        #expect(fixture.base.testClock.owed == 1)
    }

    @Test func whatIsHeldBackEndsWithThePower() throws {
        let fixture = try FaultFixture(Fault(place(.valueNotified), .once, .delay(by: .seconds(1))))
        fixture.base.central.role.deliver(fixture.notification(1), .stateChanged(.poweredOff))
        #expect(fixture.takeEvents() == [.stateChanged(.poweredOff)])
        #expect(fixture.backend.heldBack == 0)
        fixture.base.testClock.advance(by: .seconds(2))
        #expect(fixture.takeEvents().isEmpty)
    }

    @Test func whatIsHeldBackEndsWithTheManager() throws {
        let fixture = try FaultFixture(Fault(place(.valueNotified), .once, .delay(by: .seconds(1))))
        fixture.base.central.role.deliver(fixture.notification(1))
        fixture.sink.drain()
        fixture.central.invalidate()
        #expect(fixture.backend.heldBack == 0)
        fixture.base.testClock.advance(by: .seconds(2))
        #expect(fixture.takeEvents().isEmpty)
    }

    // MARK: Ends of links

    @Test func aLinkEndsForTheReasonOfThePlan() throws {
        let fixture = try FaultFixture(Fault(place(.read), .once, .disconnect(reason: .timeout)))
        fixture.central.submit(fixture.read(10))
        #expect(fixture.submitted() == [.disconnect(peer: Samples.peer)])
        fixture.central.submit(fixture.write(1))
        fixture.base.central.role.deliver(fixture.notification(1), fixture.end(.local))
        #expect(fixture.submitted().isEmpty)
        #expect(fixture.takeEvents() == [fixture.end(.timeout)])
    }

    @Test func aLinkThatIsWantedBackIsDialledAgain() throws {
        let fixture = try FaultFixture(
            options: ConnectOptions(autoReconnect: true),
            Fault(place(.valueNotified), .once, .disconnect(reason: .remote)))
        fixture.base.central.role.deliver(fixture.notification(1))
        #expect(fixture.takeEvents().isEmpty)
        fixture.base.central.role.deliver(fixture.end(.local))
        #expect(fixture.takeEvents() == [fixture.end(.remote, isReconnecting: true)])
        #expect(
            fixture.submitted() == [
                .disconnect(peer: Samples.peer),
                .connect(
                    peer: Samples.peer, operation: Samples.operation, options: ConnectOptions(autoReconnect: true)),
            ])
    }

    @Test func aCancelOfTheManagersOwnStaysLocal() throws {
        let fixture = try FaultFixture(
            options: ConnectOptions(autoReconnect: true),
            Fault(place(.read), .once, .disconnect(reason: .timeout)))
        fixture.central.submit(fixture.read(10))
        fixture.central.submit(.disconnect(peer: Samples.peer))
        fixture.base.central.role.deliver(fixture.end(.local))
        #expect(fixture.takeEvents() == [fixture.end(.local)])
    }

    @Test func connectedPassesBeforeItsLinkEnds() throws {
        let fixture = try FaultFixture(Fault(place(.connected), .nth(number: 2), .disconnect(reason: .remote)))
        let connected = CentralEvent.connected(
            peer: Samples.otherPeer, link: LinkID(rawValue: 4), operation: fixture.operation(20),
            parameters: LinkParameters(mtu: 23, writeCredits: 1))
        fixture.base.central.role.deliver(connected)
        #expect(fixture.takeEvents() == [connected])
        #expect(fixture.submitted() == [.disconnect(peer: Samples.otherPeer)])
    }
}

extension CentralCommand {
    fileprivate var readOperation: OperationID? {
        if case .request(_, let operation, .read) = self { return operation }
        return nil
    }
}
