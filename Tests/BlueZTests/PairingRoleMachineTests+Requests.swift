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
        let consent = ask(.consent, about: device)
        #expect(answers[consent] == nil)
        input(.command(1, .answer(request: try request(), answer: .accept), nil))
        #expect(answers[consent] == .accept)
        let passkey = ask(.enterPasskey, about: device)
        input(.command(1, .answer(request: try request(), answer: .passkey(42)), nil))
        #expect(answers[passkey] == .passkey(42))
        input(.pairedChanged(device, isPaired: true))
        #expect(events[1]?.last == .paired(peer: device.peer, operation: nil, isBonded: true))
        #expect(calls.isEmpty, "no device is marked as trusted")
    }

    @Test mutating func aRefusalFailsThePairing() throws {
        makeAgent()
        let call = ask(.confirm(passkey: 7), about: device)
        input(.command(1, .answer(request: try request(), answer: .reject), nil))
        #expect(answers[call] == .reject)
        guard case .pairingFailed(device.peer, nil, let error)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == .operationCancelled)
        #expect(refused == [device.peer])
        // What the refused operation reports about it is not new.
        input(.securityFailed(device.peer))
        #expect(events[1]?.count == 2)
    }

    @Test mutating func theLastAgentIsAskedAndAnotherCannotAnswer() throws {
        makeAgent(1)
        makeAgent(2)
        let call = ask(.consent, about: device)
        #expect(events[1] == nil)
        input(.command(1, .answer(request: try request(of: 2), answer: .accept), nil))
        #expect(answers[call] == nil)
        input(.invalidated(2))
        #expect(answers[call] == .reject)
    }

    @Test mutating func aNumberIsShownOnceUntilThePairingIsOver() throws {
        makeAgent(1, .displayOnly)
        for _ in 0..<3 {
            let call = ask(.display(passkey: 123_456), about: device)
            #expect(answers[call] == .accept)
        }
        #expect(events[1]?.count == 1)
        input(.cancelled)
        input(.pairedChanged(device, isPaired: true))
        #expect(
            events[1]?.dropFirst() == [
                .cancelled(request: try request()),
                .paired(peer: device.peer, operation: nil, isBonded: true),
            ])
    }

    @Test mutating func aNumberThatTheUserTakesBackCancelsThePairing() throws {
        makeAgent(1, .displayOnly)
        _ = ask(.display(passkey: 1), about: device)
        input(.command(1, .answer(request: try request(), answer: .reject), nil))
        #expect(calls.map(\.call.member) == ["CancelPairing"])
        #expect(refused.isEmpty)
    }

    @Test(arguments: [true, false]) mutating func aRenewedBondIsToldOnceItsLinkHasLivedOn(_ isLost: Bool) throws {
        makeAgent()
        input(.snapshot([device], pairable: [:]))
        _ = ask(.consent, about: device)
        input(.command(1, .answer(request: try request(), answer: .accept), nil))
        #expect(timers == [device.peer] && events[1]?.count == 1)
        if isLost { input(.disconnected(device.peer)) }
        input(.timer(device.peer))
        #expect(events[1]?.count == 2)
        let isTold = events[1]?.last == .paired(peer: device.peer, operation: nil, isBonded: true)
        #expect(isTold != isLost)
    }

    @Test mutating func aLinkThatEndsTakesItsPairingAlong() throws {
        makeAgent()
        let call = ask(.enterPasskey, about: device)
        input(.cancelled)
        #expect(answers[call] == .reject && timers == [device.peer])
        #expect(events[1]?.last == .cancelled(request: try request()))
        input(.disconnected(device.peer))
        input(.timer(device.peer))
        guard case .pairingFailed(_, nil, let error)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == .peerDisconnected && events[1]?.count == 3)
    }

    @Test mutating func aPairingThatTheDaemonGivesUpIsATimeOut() {
        makeAgent()
        _ = ask(.enterPasskey, about: device)
        input(.cancelled)
        input(.timer(device.peer))
        guard case .pairingFailed(_, nil, let error)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == .encryptionTimedOut)
    }

    @Test mutating func aWrongNumberFailsWithTheOperationThatNeededIt() throws {
        makeAgent()
        _ = ask(.enterPasskey, about: device)
        input(.command(1, .answer(request: try request(), answer: .passkey(1)), nil))
        input(.securityFailed(device.peer))
        guard case .pairingFailed(device.peer, nil, _)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
    }

    // MARK: Requests of apps

    @Test mutating func anAppPairsAndIsToldOnce() {
        makeAgent()
        let operation = OperationID(rawValue: 9)
        input(.command(1, .pair(peer: device.peer, operation: operation), device))
        #expect(members == ["Pair"] && calls.last?.call.path == device.path)
        // Who asked for it need not agree to it.
        let call = ask(.consent, about: device)
        #expect(answers[call] == .accept)
        input(.pairedChanged(device, isPaired: true))
        #expect(events[1] == nil)
        answer("Pair")
        #expect(events[1] == [.paired(peer: device.peer, operation: operation, isBonded: true)])
        #expect(!calls.contains { $0.call.member == "Disconnect" })
    }

    /// bluetoothd asks the agent of the program that calls, if it has one by then.
    @Test mutating func aPairingThatAnAppBeginsWaitsForItsAgentWhichNeedNotBeTheDefaultOne() {
        input(.daemon(isReady: true))
        input(.activated(1))
        input(.command(1, .setCapability(.displayYesNo), nil))
        device.isOurs = false
        input(.command(1, .pair(peer: device.peer, operation: OperationID(rawValue: 9)), device))
        #expect(members == ["RegisterAgent"])
        answer("RegisterAgent")
        #expect(members == ["Pair"], "and no RequestDefaultAgent")
        let call = ask(.confirm(passkey: 5), about: device)
        #expect(answers[call] == nil && events[1]?.count == 1)
        answer("Pair")
        #expect(calls.isEmpty)
    }

    @Test mutating func aPairingEndsWithItsAgent() {
        makeAgent()
        input(.command(1, .pair(peer: device.peer, operation: OperationID(rawValue: 9)), device))
        input(.invalidated(1))
        #expect(members == ["Pair", "CancelPairing", "UnregisterAgent"])
        let call = ask(.consent, about: PairingDevice(path: device.path, peer: device.peer))
        #expect(answers[call] == .reject)
    }

    @Test mutating func aLinkThatWasMadeForPairingIsGivenUp() {
        makeAgent()
        device.isConnected = false
        input(.command(1, .pair(peer: device.peer, operation: OperationID(rawValue: 9)), device))
        answer("Pair")
        #expect(calls.map(\.call.member) == ["Disconnect"])
    }

    @Test mutating func whoIsPairedIsPaired() {
        makeAgent()
        device.isPaired = true
        let operation = OperationID(rawValue: 9)
        input(.command(1, .pair(peer: device.peer, operation: operation), device))
        #expect(calls.isEmpty)
        #expect(events[1] == [.paired(peer: device.peer, operation: operation, isBonded: true)])
    }

    @Test(arguments: [
        ("AuthenticationCanceled", BackendError.Code.operationCancelled),
        ("AuthenticationFailed", .invalidParameters), ("AuthenticationRejected", .operationNotSupported),
        ("AuthenticationTimeout", .encryptionTimedOut), ("ConnectionAttemptFailed", .connectionFailed),
        ("Failed", .unknown),
    ])
    mutating func aFailedPairingSaysWhy(name: String, code: BackendError.Code) {
        makeAgent()
        input(.command(1, .pair(peer: device.peer, operation: OperationID(rawValue: 9)), device))
        answer("Pair", .failure(Self.error(name)))
        guard case .pairingFailed(device.peer, OperationID(rawValue: 9)?, let error)? = events[1]?.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == code && error.daemonName == "org.bluez.Error." + name)
    }

    @Test mutating func aBondIsRemovedWithItsDevice() {
        makeAgent(1)
        makeAgent(2)
        device.isPaired = true
        input(.snapshot([device], pairable: [:]))
        let operation = OperationID(rawValue: 3)
        input(.command(1, .unpair(peer: device.peer, operation: operation), device))
        #expect(calls.last?.call.path == CentralRoleFixture.adapter)
        #expect(calls.last?.call.body == [.objectPath(device.path)])
        input(.removed(device.path))
        answer("RemoveDevice")
        #expect(events[1] == [.unpaired(peer: device.peer, operation: operation)])
        #expect(events[2] == [.unpaired(peer: device.peer, operation: nil)])
    }

    @Test mutating func whoIsUnknownOrNotPairedCannotBe() {
        makeAgent()
        input(.command(1, .pair(peer: device.peer, operation: OperationID(rawValue: 1)), nil))
        input(.command(1, .unpair(peer: device.peer, operation: OperationID(rawValue: 2)), device))
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
        _ = ask(.consent, about: device)
        let other = PairingDevice(path: CentralRoleFixture.path("/org/bluez/hci0/dev_00"), peer: PeerID(UUID()))
        input(.command(1, .pair(peer: other.peer, operation: OperationID(rawValue: 4)), other))
        input(.daemon(isReady: false))
        #expect(events[1]?.contains(.cancelled(request: try request())) == true)
        let failed = (events[1] ?? []).compactMap { event in
            if case .pairingFailed(let peer, _, _) = event { peer } else { nil }
        }
        #expect(Set(failed) == [device.peer, other.peer])
    }
}
#endif
