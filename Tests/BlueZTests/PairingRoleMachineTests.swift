#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// The pairing host, with a daemon played by hand.
@Suite struct PairingRoleMachineTests {
    private var host = PairingRoleMachine()
    private var calls: [(id: CallID, call: MethodCall)] = []
    private var answers: [AgentCallID: AgentAnswer] = [:]
    private var events: [PairingRoleMachine.Agent: [PairingEvent]] = [:]
    private var timers: [PeerID] = []
    private var agentTimers: [Int] = []
    private var refused: [PeerID] = []
    private var warnings: [String] = []
    private var device = PairingDevice(
        path: CentralRoleFixture.device, peer: PeerID(UUID()), isConnected: true, isOurs: true)
    private var lastAsked: UInt64 = 0

    private mutating func input(_ input: PairingRoleInput) {
        for effect in host.handle(input) {
            switch effect {
            case .call(let id, let call): calls.append((id, call))
            case .answer(let id, let answer): answers[id] = answer
            case .deliver(let agent, let event): events[agent, default: []].append(event)
            case .startTimer(let peer, _): timers.append(peer)
            case .startAgentTimer(let number, _): agentTimers.append(number)
            case .refused(let peer): refused.append(peer)
            case .log(let message): if message.level == .warning { warnings.append(message.text) }
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
        ask(.pairing(question), about: device)
    }

    private mutating func ask(
        _ question: AgentQuestion, about device: PairingDevice?, at path: ObjectPath = CentralRoleFixture.device
    ) -> AgentCallID {
        lastAsked += 1
        let id = AgentCallID(number: lastAsked)
        input(.asked(id, question, device?.path ?? path, device))
        return id
    }

    /// An app's agent, while something needs pairing.
    private mutating func makeAgent(_ agent: Int = 1, _ capability: PairingCapability = .keyboardDisplay) {
        input(.daemon(isReady: true))
        input(.needChanged(true))
        input(.activated(agent))
        input(.command(agent, .setCapability(capability), nil))
        answerAll()
    }

    private mutating func answerAll() {
        while !calls.isEmpty { answer(calls[0].call.member) }
        for timer in agentTimers { input(.agentTimer(timer)) }
        agentTimers = []
        if !calls.isEmpty { answerAll() }
    }

    private mutating func setPairable(_ isOn: Bool) { input(.pairableChanged(CentralRoleFixture.adapter, isOn: isOn)) }

    private var members: [String] { calls.map(\.call.member) }

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

    @Test mutating func anAgentIsThereOnlyWhileSomethingNeedsPairing() {
        input(.daemon(isReady: true))
        #expect(calls.isEmpty)
        input(.needChanged(true))
        #expect(members == ["RegisterAgent"])
        #expect(calls.first?.call.body == [.objectPath(PairingRoleMachine.agentPath), .string("NoInputNoOutput")])
        answer("RegisterAgent")
        #expect(calls.isEmpty, "a desktop's agent stays the default one")
        input(.needChanged(false))
        #expect(members == ["UnregisterAgent"])
        answer("UnregisterAgent")
        #expect(calls.isEmpty)
    }

    @Test mutating func anAppsAgentIsTheDefaultOneOnlyWhileSomethingNeedsPairing() {
        input(.daemon(isReady: true))
        input(.activated(1))
        input(.command(1, .setCapability(.displayYesNo), nil))
        #expect(calls.first?.call.body.last == .string("DisplayYesNo"))
        answer("RegisterAgent")
        #expect(calls.isEmpty, "a desktop's agent stays the default one")
        input(.needChanged(true))
        #expect(members == ["RequestDefaultAgent"])
        answer("RequestDefaultAgent")
        input(.needChanged(false))
        // BlueZ has no other way to give up being the default one.
        answer("UnregisterAgent")
        answer("RegisterAgent")
        #expect(calls.isEmpty)
    }

    @Test(arguments: [PairingCapability.displayYesNo, .noInputNoOutput])
    mutating func theDefaultAgentIsGivenUpWithTheAppsAgent(capability: PairingCapability) {
        makeAgent(1, capability)
        input(.invalidated(1))
        #expect(members == ["UnregisterAgent"])
        answerAll()
        // It is there to refuse, and is not the default one before others.
        input(.needChanged(false))
        #expect(members == ["UnregisterAgent"])
    }

    @Test(
        arguments: zip(
            [PairingCapability.displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay],
            ["DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay"]))
    mutating func theCapabilityIsTheApps(capability: PairingCapability, name: String) {
        input(.daemon(isReady: true))
        input(.activated(1))
        input(.command(1, .setCapability(capability), nil))
        input(.needChanged(true))
        #expect(calls.first?.call.body.last == .string(name))
    }

    @Test mutating func anotherCapabilityTakesAnotherAgent() {
        input(.daemon(isReady: true))
        input(.needChanged(true))
        answer("RegisterAgent")
        input(.activated(1))
        input(.command(1, .setCapability(.displayOnly), nil))
        answer("UnregisterAgent")
        #expect(calls.first?.call.body.last == .string("DisplayOnly"))
    }

    @Test mutating func aRefusedAgentIsNotTriedForEver() {
        input(.needChanged(true))
        input(.daemon(isReady: true))
        answer("RegisterAgent", .failure(Self.error("InvalidArguments")))
        #expect(calls.isEmpty && warnings.count == 1)
        // A new daemon may think otherwise.
        input(.daemon(isReady: false))
        input(.daemon(isReady: true))
        #expect(members == ["RegisterAgent"])
    }

    @Test mutating func aReleasedAgentIsRegisteredAgain() {
        makeAgent()
        input(.released)
        #expect(members == ["RegisterAgent"])
    }

    // MARK: Pairable

    /// The kernel confirms it a moment later; an agent that came in between would have no bonds.
    @Test mutating func theNextAgentWaitsUntilBlueZHasSwitchedPairingOff() {
        makeAgent(1, .displayOnly)
        setPairable(true)
        input(.command(1, .setCapability(.keyboardOnly), nil))
        answer("UnregisterAgent")
        #expect(calls.isEmpty)
        setPairable(false)
        #expect(members == ["RegisterAgent"])
    }

    @Test mutating func theNextAgentComesAfterAMomentWhereAnotherAgentKeepsPairingOn() {
        makeAgent(1, .displayOnly)
        setPairable(true)
        input(.command(1, .setCapability(.keyboardOnly), nil))
        answer("UnregisterAgent")
        #expect(calls.isEmpty)
        input(.agentTimer(agentTimers.removeLast()))
        #expect(members == ["RegisterAgent"])
    }

    @Test mutating func whatTheAdministratorSwitchesOffIsNeverSwitchedOn() {
        makeAgent()
        setPairable(true)
        for _ in 0..<3 {
            setPairable(false)
            answerAll()
            #expect(calls.isEmpty)
            setPairable(true)
        }
        #expect(calls.isEmpty)
        #expect(warnings.count == 3 && warnings[0].contains("bluetoothctl pairable on"))
    }

    /// BlueZ would switch it on for a new default agent.
    @Test mutating func noAgentBecomesTheDefaultOneWhilePairingIsSwitchedOff() {
        setPairable(false)
        input(.daemon(isReady: true))
        input(.activated(1))
        input(.command(1, .setCapability(.displayOnly), nil))
        input(.needChanged(true))
        answerAll()
        #expect(calls.isEmpty && warnings.count == 1)
        setPairable(true)
        #expect(members == ["RequestDefaultAgent"])
    }

    /// BlueZ switches it on for the agent that is the default one then.
    @Test(arguments: [true, false])
    mutating func whatBlueZSwitchesOnAsOurAgentLeavesIsSwitchedOffAgain(isReplied: Bool) {
        makeAgent()
        setPairable(true)
        setPairable(false)
        input(.needChanged(false))
        if isReplied { answer("UnregisterAgent") }
        setPairable(true)
        #expect(members.last == "Set")
        #expect(
            calls.last?.call.body == [
                .string("org.bluez.Adapter1"), .string("Pairable"), .variant(.boolean(false)),
            ])
    }

    @Test mutating func whatTheAdministratorSwitchesOnLaterStaysOn() {
        makeAgent()
        setPairable(true)
        setPairable(false)
        input(.needChanged(false))
        answerAll()
        setPairable(true)
        #expect(calls.isEmpty)
    }

    // MARK: Consent

    @Test mutating func withoutAnAgentOfTheAppNothingIsAgreedTo() {
        input(.needChanged(true))
        let ours = ask(.consent, about: device)
        #expect(answers[ours] == .reject)
        #expect(warnings.count == 1 && warnings[0].contains("CBPairingAgent"))
        #expect(refused == [device.peer], "what needed it is told")
        let again = ask(.consent, about: device)
        #expect(answers[again] == .reject && warnings.count == 1, "logged once")
    }

    @Test mutating func theSettingAgreesToWhatThisProcessNeedsAndToNothingElse() {
        host = PairingRoleMachine(acceptsJustWorks: true)
        input(.needChanged(true))
        let ours = ask(.consent, about: device)
        #expect(answers[ours] == .accept)
        input(.pairedChanged(device, isPaired: true))
        device.isOurs = false
        let others = ask(.consent, about: device)
        #expect(answers[others] == .reject)
        let unknown = ask(.consent, about: nil)
        #expect(answers[unknown] == .reject)
        #expect(!members.contains("Set"), "no device is marked as trusted")
    }

    @Test(arguments: [PairingQuestion.enterPasskey, .confirm(passkey: 1), .display(passkey: 1)])
    mutating func numbersNeedAnAgent(question: PairingQuestion) {
        host = PairingRoleMachine(acceptsJustWorks: true)
        input(.needChanged(true))
        let call = ask(question, about: device)
        #expect(answers[call] == .reject)
        #expect(warnings.count == 1 && warnings[0].contains("CBPairingAgent"))
    }

    @Test(arguments: [true, false], [true, false])
    mutating func noServiceIsEverAuthorized(hasAgent: Bool, isAccepting: Bool) {
        host = PairingRoleMachine(acceptsJustWorks: isAccepting)
        if hasAgent { makeAgent() } else { input(.needChanged(true)) }
        let call = ask(.service("00001124-0000-1000-8000-00805f9b34fb"), about: device)
        #expect(answers[call] == .reject && events[1] == nil)
        #expect(warnings.count == 1 && warnings[0].contains("00001124"))
        let pin = ask(.pinCode, about: device)
        #expect(answers[pin] == .reject && warnings.count == 2)
    }

    @Test mutating func anAppIsNotAskedAboutDevicesThatItHasNothingToDoWith() {
        makeAgent()
        device.isOurs = false
        let call = ask(.confirm(passkey: 1), about: device)
        #expect(answers[call] == .reject && events[1] == nil && refused.isEmpty)
        #expect(warnings.count == 1 && warnings[0].contains("bluetoothctl pair"))
    }

    @Test mutating func theLogOfRefusalsIsBounded() {
        input(.needChanged(true))
        for number in 0...RefusalLog.capacity {
            let path = CentralRoleFixture.path("/org/bluez/hci0/dev_\(number)")
            for _ in 0..<2 { _ = ask(.pinCode, about: nil, at: path) }
        }
        #expect(warnings.count == RefusalLog.capacity + 1)
        _ = ask(.pinCode, about: nil, at: CentralRoleFixture.path("/org/bluez/hci0/dev_0"))
        #expect(warnings.count == RefusalLog.capacity + 2, "the first was forgotten")
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
