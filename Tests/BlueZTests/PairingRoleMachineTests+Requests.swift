#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// Questions of the daemon, and requests of apps.
extension PairingRoleMachineTests {
    // MARK: Questions

    @Test mutating func theAppIsAskedAndItsAnswerIsTheDaemons() throws {
        makeAgent()
        let consent = ask(.consent)
        #expect(answers[consent] == nil)
        input(.command(1, .answer(request: try request(), answer: .accept)))
        #expect(answers[consent] == .accept)
        let passkey = ask(.enterPasskey)
        input(.command(1, .answer(request: try request(), answer: .passkey(42))))
        #expect(answers[passkey] == .passkey(42))
        setPaired(true)
        #expect(events[1]?.last == .paired(peer: peer, operation: nil, isBonded: true))
        #expect(calls.isEmpty, "no device is marked as trusted")
    }

    @Test mutating func aRefusalFailsThePairing() throws {
        makeAgent()
        let call = ask(.confirm(passkey: 7))
        input(.command(1, .answer(request: try request(), answer: .reject)))
        #expect(answers[call] == .reject)
        guard case .pairingFailed(peer, nil, let error)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == .operationCancelled)
        #expect(refused == [peer])
        // The report of the refused operation adds nothing new.
        input(.securityFailed(peer))
        #expect(events[1]?.count == 2)
    }

    @Test mutating func theLastAgentIsAskedAndAnotherCannotAnswer() throws {
        makeAgent(1)
        makeAgent(2)
        let call = ask(.consent)
        #expect(events[1] == nil)
        input(.command(1, .answer(request: try request(of: 2), answer: .accept)))
        #expect(answers[call] == nil)
        input(.invalidated(2))
        #expect(answers[call] == .reject)
    }

    @Test mutating func aNumberIsShownOnceUntilThePairingIsOver() throws {
        makeAgent(1, .displayOnly)
        for _ in 0..<3 {
            let call = ask(.display(passkey: 123_456))
            #expect(answers[call] == .accept)
        }
        #expect(events[1]?.count == 1)
        call("Cancel")
        setPaired(true)
        #expect(
            events[1]?.dropFirst() == [
                .cancelled(request: try request()),
                .paired(peer: peer, operation: nil, isBonded: true),
            ])
    }

    @Test mutating func aNumberThatTheUserTakesBackCancelsThePairing() throws {
        makeAgent(1, .displayOnly)
        _ = ask(.display(passkey: 1))
        input(.command(1, .answer(request: try request(), answer: .reject)))
        #expect(calls.map(\.call.member) == ["CancelPairing"])
        #expect(refused.isEmpty)
    }

    @Test(arguments: [true, false]) mutating func aRenewedBondIsReportedOnceItsLinkHasLivedOn(_ isLost: Bool) throws {
        makeAgent()
        setPaired(true)
        _ = ask(.consent)
        input(.command(1, .answer(request: try request(), answer: .accept)))
        #expect(timers == [.rebond(peer)] && events[1]?.count == 2)
        if isLost { disconnect() }
        #expect(timers.isEmpty == isLost)
        fire(.rebond(peer))
        #expect(events[1]?.count == 3)
        let isReported = events[1]?.last == .paired(peer: peer, operation: nil, isBonded: true)
        #expect(isReported != isLost)
    }

    @Test mutating func aLinkThatEndsTakesItsPairingAlong() throws {
        makeAgent()
        let question = ask(.enterPasskey)
        call("Cancel")
        #expect(answers[question] == .reject && timers == [.outcome(peer)])
        #expect(events[1]?.last == .cancelled(request: try request()))
        disconnect()
        #expect(timers.isEmpty)
        fire(.outcome(peer))
        guard case .pairingFailed(_, nil, let error)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == .peerDisconnected && events[1]?.count == 3)
    }

    @Test mutating func aPairingThatTheDaemonGivesUpIsATimeOut() {
        makeAgent()
        _ = ask(.enterPasskey)
        call("Cancel")
        fire(.outcome(peer))
        guard case .pairingFailed(_, nil, let error)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == .encryptionTimedOut)
    }

    @Test mutating func aWrongNumberFailsWithTheOperationThatNeededIt() throws {
        makeAgent()
        _ = ask(.enterPasskey)
        input(.command(1, .answer(request: try request(), answer: .passkey(1))))
        input(.securityFailed(peer))
        guard case .pairingFailed(peer, nil, _)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
    }

    // MARK: Requests of apps

    @Test mutating func anAppPairsAndIsReportedOnce() {
        makeAgent()
        let operation = OperationID(rawValue: 9)
        input(.command(1, .pair(peer: peer, operation: operation)))
        #expect(members == ["Pair"] && calls.last?.call.path == device)
        // A request for the pairing is consent to it.
        let call = ask(.consent)
        #expect(answers[call] == .accept)
        setPaired(true)
        #expect(events[1] == nil)
        answer("Pair")
        #expect(events[1] == [.paired(peer: peer, operation: operation, isBonded: true)])
        #expect(!calls.contains { $0.call.member == "Disconnect" })
    }

    /// bluetoothd asks the agent of the calling program, if it has registered one by then.
    @Test mutating func aPairingThatAnAppBeginsWaitsForItsAgentWhichNeedNotBeTheDefaultOne() {
        daemonComes()
        input(.activated(1))
        input(.command(1, .setCapability(.displayYesNo)))
        isNeeded = false
        input(.command(1, .pair(peer: peer, operation: OperationID(rawValue: 9))))
        #expect(members == ["RegisterAgent"])
        answer("RegisterAgent")
        #expect(members == ["Pair"], "and no RequestDefaultAgent")
        let call = ask(.confirm(passkey: 5))
        #expect(answers[call] == nil && events[1]?.count == 1)
        answer("Pair")
        #expect(calls.isEmpty)
    }

    @Test mutating func aPairingEndsWithItsAgent() {
        makeAgent()
        input(.command(1, .pair(peer: peer, operation: OperationID(rawValue: 9))))
        input(.invalidated(1))
        #expect(members == ["Pair", "CancelPairing", "UnregisterAgent"])
        isNeeded = false
        let call = ask(.consent)
        #expect(answers[call] == .reject)
    }

    @Test(arguments: [true, false])
    mutating func anotherAgentSharesAPairingThatIsUnderWay(succeeds: Bool) {
        makeAgent(1)
        makeAgent(2)
        disconnect()
        events = [:]
        for agent in 1...2 {
            input(.command(agent, .pair(peer: peer, operation: OperationID(rawValue: UInt64(agent)))))
        }
        #expect(members == ["Pair"], "bluetoothd would refuse the second one")
        if succeeds { setPaired(true) }
        answer("Pair", succeeds ? .success([]) : .failure(Self.error("AuthenticationTimeout")))
        #expect(members == (succeeds ? ["Disconnect"] : []))
        for agent in 1...2 {
            #expect(events[agent]?.map(\.kind) == [succeeds ? .paired : .pairingFailed])
        }
    }

    @Test mutating func aPairingThatAnotherAgentWantsTooSurvivesItsFirst() {
        makeAgent(1)
        makeAgent(2)
        for agent in 1...2 {
            input(.command(agent, .pair(peer: peer, operation: OperationID(rawValue: UInt64(agent)))))
        }
        events = [:]
        input(.invalidated(1))
        #expect(!members.contains("CancelPairing"))
        answer("Pair")
        #expect(events == [2: [.paired(peer: peer, operation: OperationID(rawValue: 2), isBonded: true)]])
    }

    @Test mutating func aLinkThatWasMadeForPairingIsGivenUp() {
        makeAgent()
        disconnect()
        input(.command(1, .pair(peer: peer, operation: OperationID(rawValue: 9))))
        answer("Pair")
        #expect(calls.map(\.call.member) == ["Disconnect"])
    }

    @Test mutating func whoIsPairedIsPaired() {
        makeAgent()
        setPaired(true)
        events = [:]
        let operation = OperationID(rawValue: 9)
        input(.command(1, .pair(peer: peer, operation: operation)))
        #expect(calls.isEmpty)
        #expect(events[1] == [.paired(peer: peer, operation: operation, isBonded: true)])
    }

    @Test(arguments: [
        ("AuthenticationCanceled", BackendError.Code.operationCancelled),
        ("AuthenticationFailed", .invalidParameters), ("AuthenticationRejected", .operationNotSupported),
        ("AuthenticationTimeout", .encryptionTimedOut), ("ConnectionAttemptFailed", .connectionFailed),
        ("Failed", .unknown),
    ])
    mutating func aFailedPairingSaysWhy(name: String, code: BackendError.Code) {
        makeAgent()
        input(.command(1, .pair(peer: peer, operation: OperationID(rawValue: 9))))
        answer("Pair", .failure(Self.error(name)))
        guard case .pairingFailed(peer, OperationID(rawValue: 9)?, let error)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == code && error.daemonName == "org.bluez.Error." + name)
    }

    @Test mutating func aBondIsRemovedWithItsDevice() {
        makeAgent(1)
        makeAgent(2)
        setPaired(true)
        events = [:]
        let operation = OperationID(rawValue: 3)
        input(.command(1, .unpair(peer: peer, operation: operation)))
        #expect(calls.last?.call.path == CentralRoleFixture.adapter)
        #expect(calls.last?.call.body == [.objectPath(device)])
        receive(.interfacesRemoved(device, [Device1.interface]))
        answer("RemoveDevice")
        #expect(events[1] == [.unpaired(peer: peer, operation: operation)])
        #expect(events[2] == [.unpaired(peer: peer, operation: nil)])
    }

    @Test mutating func whoIsUnknownOrNotPairedCannotBe() {
        makeAgent()
        input(.command(1, .pair(peer: PeerID(UUID()), operation: OperationID(rawValue: 1))))
        input(.command(1, .unpair(peer: peer, operation: OperationID(rawValue: 2))))
        #expect(events[1]?.count == 2 && calls.isEmpty)
        for event in events[1] ?? [] {
            guard case .pairingFailed(_, _, let error) = event else {
                Issue.record("\(event)")
                continue
            }
            #expect(error.code == .unknownDevice)
        }
    }

    @Test mutating func aLostDaemonEndsEverything() throws {
        makeAgent()
        _ = ask(.consent)
        let path = CentralRoleFixture.path("/org/bluez/hci0/dev_00_00_00_00_00_01")
        receive(.interfacesAdded(path, CentralRoleFixture.deviceObject(address: "00:00:00:00:00:01")))
        let other = try #require(objects.peer(at: path))
        input(.command(1, .pair(peer: other, operation: OperationID(rawValue: 4))))
        receive(.phase(.lost))
        #expect(events[1]?.contains(.cancelled(request: try request())) == true)
        let failed = (events[1] ?? []).compactMap { event in
            if case .pairingFailed(let peer, _, _) = event { peer } else { nil }
        }
        #expect(Set(failed) == [peer, other])
    }
}
#endif
