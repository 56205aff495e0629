import BluetoothBackend
import BluetoothLocking
import FoundationEssentials
import Synchronization
import Testing

/// What becomes of commands and events that a plan hits.
struct FaultInjectionTests {
    private func place(_ kind: CentralCommand.Kind) -> FaultPlace { FaultPlace(.centralCommand(kind)) }
    private func place(_ kind: CentralEvent.Kind) -> FaultPlace { FaultPlace(.centralEvent(kind)) }

    // MARK: Nothing

    @Test func withoutAFaultAllPasses() throws {
        let stage = try FaultStage()
        #expect(stage.backend.name == "test")
        #expect(stage.backend.authorization() == .denied)
        #expect(stage.backend.supports(.pairing))
        #expect(stage.central.knownPeers([Samples.peer]).map(\.id) == [Samples.peer])
        #expect(stage.central.connectedPeers(offering: []).map(\.id) == [Samples.peer])
        for command in Samples.centralCommands { stage.central.submit(command) }
        #expect(stage.submitted() == Samples.centralCommands)
        for event in Samples.centralEvents { stage.radio.central.role.tell(event) }
        #expect(stage.told() == Samples.centralEvents)
        stage.central.invalidate()
        #expect(stage.radio.central.role.isInvalidated)
    }

    // MARK: Errors

    @Test func aFailedCommandDoesNotReachTheRadio() throws {
        let stage = try FaultStage(Fault(place(.read), .nth(number: 2), .error(Samples.error)))
        stage.central.submit(stage.read(10))
        stage.radio.central.role.tell(stage.value(10))
        stage.central.submit(stage.read(11))
        #expect(stage.submitted() == [stage.read(10)])
        #expect(stage.told() == [stage.value(10), stage.failure(11)])
    }

    @Test func aMadeUpErrorKeepsItsPlaceAmongTheAnswers() throws {
        let stage = try FaultStage(Fault(place(.read), .nth(number: 2), .error(Samples.error)))
        for number in 10...12 { stage.central.submit(stage.read(UInt64(number))) }
        #expect(stage.told().isEmpty)
        stage.radio.central.role.tell(stage.value(10), stage.value(12))
        #expect(stage.told() == [stage.value(10), stage.failure(11), stage.value(12)])
    }

    @Test func anAnswerIsReplacedByAnError() throws {
        let stage = try FaultStage(Fault(place(.valueRead), .once, .error(Samples.error)))
        stage.central.submit(stage.read(10))
        stage.radio.central.role.tell(stage.value(10))
        #expect(stage.told() == [stage.failure(10)])
    }

    @Test func aFailedConnectNeverBegins() throws {
        let stage = try FaultStage(Fault(place(.connect), .nth(number: 2), .error(Samples.error)))
        stage.central.submit(
            .connect(peer: Samples.otherPeer, operation: stage.operation(20), options: ConnectOptions()))
        #expect(stage.submitted().isEmpty)
        #expect(
            stage.told() == [
                .connectFailed(peer: Samples.otherPeer, operation: stage.operation(20), error: Samples.error)
            ])
    }

    // MARK: Loss, corruption, repetition

    @Test func aLostCommandIsNeverAnsweredAndOthersAre() throws {
        let stage = try FaultStage(Fault(place(.read), .once, .drop))
        stage.central.submit(stage.read(10))
        stage.central.submit(stage.read(11))
        #expect(stage.submitted() == [stage.read(11)])
        stage.radio.central.role.tell(stage.value(11))
        #expect(stage.told() == [stage.value(11)])
    }

    @Test func aLostAnswerDoesNotBlockMadeUpOnes() throws {
        let stage = try FaultStage(
            Fault(place(.valueRead), .once, .drop), Fault(place(.read), .nth(number: 2), .error(Samples.error)))
        stage.central.submit(stage.read(10))
        stage.central.submit(stage.read(11))
        stage.radio.central.role.tell(stage.value(10))
        #expect(stage.told() == [stage.failure(11)])
    }

    @Test func corruptionFlipsOneBitAndTheSameOneWithTheSameSeed() throws {
        func corrupted(seed: UInt64) throws -> UInt8 {
            let stage = try FaultStage(seed: seed, Fault(place(.valueNotified), .once, .corrupt))
            stage.radio.central.role.tell(stage.notification(0))
            guard case .valueNotified(_, _, let value)? = stage.told().first else { return 0 }
            return value.first ?? 0
        }
        let byte = try corrupted(seed: 5)
        #expect(byte.nonzeroBitCount == 1)
        #expect(try corrupted(seed: 5) == byte)
        #expect(Set(try (1...20).map { try corrupted(seed: $0) }).count > 1)
    }

    @Test func anEmptyValueIsCorruptedToOneByte() throws {
        let stage = try FaultStage(Fault(place(.writeCommand), .once, .corrupt))
        stage.central.submit(.writeCommand(link: stage.link, attribute: stage.attribute, value: Data()))
        guard case .writeCommand(_, _, let value)? = stage.submitted().first else {
            Issue.record("the command passes")
            return
        }
        #expect(value.count == 1)
    }

    @Test func aRepeatedOperationIsAnsweredOnce() throws {
        let stage = try FaultStage(Fault(place(.read), .once, .duplicate))
        stage.central.submit(stage.read(10))
        let commands = stage.submitted()
        #expect(commands.count == 2)
        #expect(commands.first == stage.read(10))
        let repeated = try #require(commands.last.flatMap(\.readOperation))
        #expect(repeated != stage.operation(10))
        stage.radio.central.role.tell(stage.value(10), stage.value(repeated.rawValue))
        #expect(stage.told() == [stage.value(10)])
    }

    @Test func aRepeatedNotificationComesTwice() throws {
        let stage = try FaultStage(Fault(place(.valueNotified), .once, .duplicate))
        stage.radio.central.role.tell(stage.notification(1), stage.notification(2))
        #expect(stage.told() == [stage.notification(1), stage.notification(1), stage.notification(2)])
    }

    // MARK: Delays

    @Test func whatFollowsADelayedEventOnItsLinkWaitsBehindIt() throws {
        let stage = try FaultStage(Fault(place(.valueNotified), .once, .delay(by: .milliseconds(30))))
        stage.radio.central.role.tell(stage.notification(1), stage.notification(2))
        stage.radio.central.role.tell(.discovered(Samples.discovery))
        #expect(stage.told() == [.discovered(Samples.discovery)])
        #expect(stage.backend.heldBack == 2)
        stage.radio.testClock.advance(by: .milliseconds(29))
        #expect(stage.told().isEmpty)
        stage.radio.testClock.advance(by: .milliseconds(1))
        #expect(stage.told() == [stage.notification(1), stage.notification(2)])
        #expect(stage.backend.heldBack == 0)
        stage.radio.central.role.tell(stage.notification(3))
        #expect(stage.told() == [stage.notification(3)])
    }

    @Test func eachDelayIsMeasuredFromItsOwnArrival() throws {
        let stage = try FaultStage(
            Fault(place(.valueNotified), .rate(probability: 1), .delay(by: .milliseconds(30))))
        stage.radio.central.role.tell(stage.notification(1))
        #expect(stage.told().isEmpty)
        stage.radio.testClock.advance(by: .milliseconds(20))
        stage.radio.central.role.tell(stage.notification(2))
        #expect(stage.told().isEmpty)
        stage.radio.testClock.advance(by: .milliseconds(10))
        #expect(stage.told() == [stage.notification(1)])
        stage.radio.testClock.advance(by: .milliseconds(20))
        #expect(stage.told() == [stage.notification(2)])
    }

    @Test func whatFollowsADelayedCommandOnItsLinkWaitsBehindIt() throws {
        let stage = try FaultStage(Fault(place(.writeCommand), .once, .delay(by: .seconds(1))))
        stage.central.submit(stage.write(1))
        stage.central.submit(stage.read(10))
        stage.central.submit(.stopScan)
        #expect(stage.submitted() == [.stopScan])
        stage.radio.testClock.advance(by: .seconds(1))
        #expect(stage.submitted() == [stage.write(1), stage.read(10)])
    }

    @Test func aMadeUpAnswerDoesNotOvertakeADelayedEvent() throws {
        let stage = try FaultStage(
            Fault(place(.valueNotified), .once, .delay(by: .seconds(1))),
            Fault(place(.read), .once, .error(Samples.error)))
        stage.radio.central.role.tell(stage.notification(1))
        #expect(stage.told().isEmpty)
        stage.central.submit(stage.read(10))
        #expect(stage.told().isEmpty)
        stage.radio.testClock.advance(by: .seconds(1))
        #expect(stage.told() == [stage.notification(1), stage.failure(10)])
    }

    @Test func afterDeliveryWaitsForWhatWasToldAndNotForWhatIsHeldBack() throws {
        let stage = try FaultStage(Fault(place(.valueNotified), .once, .delay(by: .seconds(1))))
        let seen = Lock<[CentralEvent]?>(nil)
        stage.radio.central.role.tell(stage.notification(1), .discovered(Samples.discovery))
        stage.radio.central.role.sink?.afterDelivery { seen.withLock { $0 = stage.told() } }
        stage.sink.drain()
        #expect(seen.withLock { $0 } == [.discovered(Samples.discovery)])
        #expect(stage.backend.heldBack == 1)
        #expect(stage.radio.testClock.owed == 1)
    }

    @Test func whatIsHeldBackEndsWithThePower() throws {
        let stage = try FaultStage(Fault(place(.valueNotified), .once, .delay(by: .seconds(1))))
        stage.radio.central.role.tell(stage.notification(1), .stateChanged(.poweredOff))
        #expect(stage.told() == [.stateChanged(.poweredOff)])
        #expect(stage.backend.heldBack == 0)
        stage.radio.testClock.advance(by: .seconds(2))
        #expect(stage.told().isEmpty)
    }

    @Test func whatIsHeldBackEndsWithTheManager() throws {
        let stage = try FaultStage(Fault(place(.valueNotified), .once, .delay(by: .seconds(1))))
        stage.radio.central.role.tell(stage.notification(1))
        stage.sink.drain()
        stage.central.invalidate()
        #expect(stage.backend.heldBack == 0)
        stage.radio.testClock.advance(by: .seconds(2))
        #expect(stage.told().isEmpty)
    }

    // MARK: Ends of links

    @Test func aLinkEndsForTheReasonOfThePlan() throws {
        let stage = try FaultStage(Fault(place(.read), .once, .disconnect(reason: .timeout)))
        stage.central.submit(stage.read(10))
        #expect(stage.submitted() == [.disconnect(peer: Samples.peer)])
        stage.central.submit(stage.write(1))
        stage.radio.central.role.tell(stage.notification(1), stage.end(.local))
        #expect(stage.submitted().isEmpty)
        #expect(stage.told() == [stage.end(.timeout)])
    }

    @Test func aLinkThatIsWantedBackIsDialledAgain() throws {
        let stage = try FaultStage(
            options: ConnectOptions(autoReconnect: true),
            Fault(place(.valueNotified), .once, .disconnect(reason: .remote)))
        stage.radio.central.role.tell(stage.notification(1))
        #expect(stage.told().isEmpty)
        stage.radio.central.role.tell(stage.end(.local))
        #expect(stage.told() == [stage.end(.remote, isReconnecting: true)])
        #expect(
            stage.submitted() == [
                .disconnect(peer: Samples.peer),
                .connect(
                    peer: Samples.peer, operation: Samples.operation, options: ConnectOptions(autoReconnect: true)),
            ])
    }

    @Test func aCancelOfTheManagersOwnStaysLocal() throws {
        let stage = try FaultStage(
            options: ConnectOptions(autoReconnect: true),
            Fault(place(.read), .once, .disconnect(reason: .timeout)))
        stage.central.submit(stage.read(10))
        stage.central.submit(.disconnect(peer: Samples.peer))
        stage.radio.central.role.tell(stage.end(.local))
        #expect(stage.told() == [stage.end(.local)])
    }

    @Test func connectedPassesBeforeItsLinkEnds() throws {
        let stage = try FaultStage(Fault(place(.connected), .nth(number: 2), .disconnect(reason: .remote)))
        let connected = CentralEvent.connected(
            peer: Samples.otherPeer, link: LinkID(rawValue: 4), operation: stage.operation(20),
            parameters: LinkParameters(mtu: 23, writeCredits: 1))
        stage.radio.central.role.tell(connected)
        #expect(stage.told() == [connected])
        #expect(stage.submitted() == [.disconnect(peer: Samples.otherPeer)])
    }
}

extension CentralCommand {
    fileprivate var readOperation: OperationID? {
        if case .read(_, let operation, _) = self { return operation }
        return nil
    }
}
