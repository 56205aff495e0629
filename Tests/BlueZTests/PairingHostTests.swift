#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// The pairing host, with a daemon played by hand.
@Suite struct PairingHostTests {
    private var host = PairingHost()
    private var calls: [(id: CallID, call: MethodCall)] = []
    private var answers: [AgentCallID: AgentAnswer] = [:]
    private var events: [PairingHost.Agent: [PairingEvent]] = [:]
    private var timers: [PeerID] = []
    private var refused: [PeerID] = []
    private var device = PairingDevice(
        path: HostFixture.device, peer: PeerID(UUID()), isConnected: true, isOurs: true)
    private var lastAsked: UInt64 = 0

    private mutating func input(_ input: PairingInput) {
        for effect in host.handle(input) {
            switch effect {
            case .call(let id, let call): calls.append((id, call))
            case .answer(let id, let answer): answers[id] = answer
            case .deliver(let agent, let event): events[agent, default: []].append(event)
            case .startTimer(let peer, _): timers.append(peer)
            case .refused(let peer): refused.append(peer)
            case .note: break
            }
        }
    }

    private mutating func answer(_ member: String, _ result: Result<[DBusValue], DBusError> = .success([])) {
        guard let index = calls.firstIndex(where: { $0.call.member == member }) else {
            Issue.record("no call of \(member) in \(calls.map(\.call.member))")
            return
        }
        input(.reply(calls.remove(at: index).id, result))
    }

    private mutating func ask(_ question: PairingQuestion, about device: PairingDevice?) -> AgentCallID {
        lastAsked += 1
        let id = AgentCallID(number: lastAsked)
        input(.asked(id, question, device))
        return id
    }

    private mutating func makeAgent(_ agent: Int = 1, _ capability: PairingCapability = .keyboardDisplay) {
        input(.daemon(isReady: true))
        input(.activated(agent))
        input(.command(agent, .setCapability(capability), nil))
        while !calls.isEmpty { answer(calls[0].call.member) }
    }

    private func request(of agent: Int = 1) throws -> PairingRequestID {
        let requests = (events[agent] ?? []).compactMap { event in
            if case .requested(let id, _, _) = event { id } else { nil }
        }
        return try #require(requests.last)
    }

    private static func error(_ name: String) -> DBusError {
        DBusError(name: "org.bluez.Error." + name, message: "")
    }

    // MARK: Registration

    @Test mutating func withoutAnAgentOfTheAppWeAreADeviceWithoutDisplayAndKeyboard() {
        input(.wanted)
        #expect(calls.isEmpty)
        input(.daemon(isReady: true))
        #expect(calls.map(\.call.member) == ["RegisterAgent"])
        #expect(calls.first?.call.body == [.objectPath(PairingHost.agentPath), .string("NoInputNoOutput")])
        answer("RegisterAgent")
        #expect(calls.map(\.call.member) == ["RequestDefaultAgent"])
        answer("RequestDefaultAgent")
        #expect(calls.isEmpty)
    }

    /// The daemon ends bonding with one default agent, and may forget to begin it again with the next.
    @Test mutating func bondingThatEndsJustAfterTheAgentCameIsBegunAgainOnce() {
        input(.bondingChanged(HostFixture.adapter, isOn: false))
        #expect(calls.isEmpty)
        makeAgent()
        input(.bondingChanged(HostFixture.adapter, isOn: false))
        #expect(calls.map(\.call.member) == ["Set"])
        #expect(
            calls.first?.call.body == [
                .string("org.bluez.Adapter1"), .string("Pairable"), .variant(.boolean(true)),
            ])
        input(.bondingChanged(HostFixture.adapter, isOn: false))
        #expect(calls.count == 1, "a second time it is somebody's wish")
    }

    @Test(arguments: ["RegisterAgent", "RequestDefaultAgent"])
    mutating func bondingThatEndsWhileTheAgentComesIsBegunAgainOnceItIsThere(during member: String) {
        input(.wanted)
        input(.daemon(isReady: true))
        if member == "RequestDefaultAgent" { answer("RegisterAgent") }
        input(.bondingChanged(HostFixture.adapter, isOn: false))
        #expect(calls.map(\.call.member) == [member])
        if member == "RegisterAgent" { answer("RegisterAgent") }
        answer("RequestDefaultAgent")
        #expect(calls.map(\.call.member) == ["Set"])
    }

    @Test mutating func bondingThatTheDaemonBeganAgainByItselfIsLeftAlone() {
        input(.wanted)
        input(.daemon(isReady: true))
        input(.bondingChanged(HostFixture.adapter, isOn: false))
        answer("RegisterAgent")
        input(.bondingChanged(HostFixture.adapter, isOn: true))
        answer("RequestDefaultAgent")
        #expect(calls.isEmpty)
    }

    @Test mutating func bondingThatEndsAsTheAgentGoesIsNotBegunAgain() {
        makeAgent()
        input(.invalidated(1))
        input(.bondingChanged(HostFixture.adapter, isOn: false))
        #expect(calls.map(\.call.member) == ["UnregisterAgent"])
    }

    @Test mutating func bondingIsNotOursToBeginWhereAnotherProgramsAgentIsAsked() {
        input(.wanted)
        input(.daemon(isReady: true))
        answer("RegisterAgent")
        input(.bondingChanged(HostFixture.adapter, isOn: false))
        answer("RequestDefaultAgent", .failure(Self.error("Failed")))
        input(.bondingChanged(HostFixture.adapter, isOn: false))
        #expect(calls.isEmpty)
    }

    @Test mutating func anAppsAgentReplacesItAndGivesItBack() {
        input(.wanted)
        makeAgent(1, .displayYesNo)
        input(.invalidated(1))
        answer("UnregisterAgent")
        #expect(calls.first?.call.body.last == .string("NoInputNoOutput"))
    }

    @Test(
        arguments: zip(
            [PairingCapability.displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay],
            ["DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay"]))
    mutating func theCapabilityFollowsTheApp(capability: PairingCapability, name: String) {
        input(.daemon(isReady: true))
        input(.activated(1))
        input(.command(1, .setCapability(capability), nil))
        answer("RegisterAgent")
        if capability != .noInputNoOutput {
            answer("UnregisterAgent")
            #expect(calls.first?.call.body.last == .string(name))
        } else {
            #expect(calls.map(\.call.member) == ["RequestDefaultAgent"])
        }
    }

    @Test mutating func aRefusedAgentIsNotTriedForEver() {
        input(.wanted)
        input(.daemon(isReady: true))
        answer("RegisterAgent", .failure(Self.error("InvalidArguments")))
        #expect(calls.isEmpty)
        // A new daemon may think otherwise.
        input(.daemon(isReady: false))
        input(.daemon(isReady: true))
        #expect(calls.map(\.call.member) == ["RegisterAgent"])
    }

    @Test mutating func aReleasedAgentIsRegisteredAgain() {
        makeAgent()
        input(.released)
        #expect(calls.map(\.call.member) == ["RegisterAgent"])
    }

    // MARK: Without an agent of the app

    @Test mutating func ourOwnLinksAreAgreedToAndNothingElse() {
        input(.wanted)
        let ours = ask(.consent, about: device)
        #expect(answers[ours] == .accept)
        device.isOurs = false
        let others = ask(.consent, about: device)
        #expect(answers[others] == .reject)
        let unknown = ask(.consent, about: nil)
        #expect(answers[unknown] == .reject)
    }

    @Test(arguments: [PairingQuestion.enterPasskey, .confirm(passkey: 1), .display(passkey: 1)])
    mutating func numbersNeedSomebodyWhoReadsThem(question: PairingQuestion) {
        input(.wanted)
        let call = ask(question, about: device)
        #expect(answers[call] == .reject)
    }

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
        // Bonded peers that come by themselves are let in.
        #expect(calls.map(\.call.member) == ["Set"])
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
        // What the refused operation says of it is no news.
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
        input(.snapshot([device]))
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

    // MARK: Wishes

    @Test mutating func anAppPairsAndIsToldOnce() {
        makeAgent()
        let operation = OperationID(rawValue: 9)
        input(.command(1, .pair(peer: device.peer, operation: operation), device))
        #expect(calls.last?.call.path == device.path)
        // Who asked for it need not agree to it.
        let call = ask(.consent, about: device)
        #expect(answers[call] == .accept)
        input(.pairedChanged(device, isPaired: true))
        #expect(events[1] == nil)
        answer("Pair")
        #expect(events[1] == [.paired(peer: device.peer, operation: operation, isBonded: true)])
        #expect(!calls.contains { $0.call.member == "Disconnect" })
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
        input(.snapshot([device]))
        let operation = OperationID(rawValue: 3)
        input(.command(1, .unpair(peer: device.peer, operation: operation), device))
        #expect(calls.last?.call.path == HostFixture.adapter)
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
        let other = PairingDevice(path: HostFixture.path("/org/bluez/hci0/dev_00"), peer: PeerID(UUID()))
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
