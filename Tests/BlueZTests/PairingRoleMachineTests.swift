#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// The pairing host, with a daemon played by hand.
@Suite struct PairingRoleMachineTests {
    var host = PairingRoleMachine()
    var calls: [(id: CallID, call: MethodCall)] = []
    var answers: [AgentCallID: AgentAnswer] = [:]
    var events: [PairingRoleMachine.Agent: [PairingEvent]] = [:]
    var timers: [PeerID] = []
    var agentTimers: [Int] = []
    var refused: [PeerID] = []
    var warnings: [String] = []
    var device = PairingDevice(
        path: CentralRoleFixture.device, peer: PeerID(UUID()), isConnected: true, isOurs: true)
    var lastAsked: UInt64 = 0

    mutating func input(_ input: PairingRoleInput) {
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

    mutating func answer(_ member: String, _ result: Result<[DBusValue], DBusError> = .success([])) {
        guard let index = calls.firstIndex(where: { $0.call.member == member }) else {
            Issue.record("no call of \(member) in \(calls.map(\.call.member))")
            return
        }
        input(.reply(calls.remove(at: index).id, result))
    }

    mutating func ask(_ question: PairingQuestion, about device: PairingDevice?) -> AgentCallID {
        ask(.pairing(question), about: device)
    }

    mutating func ask(
        _ question: AgentQuestion, about device: PairingDevice?, at path: ObjectPath = CentralRoleFixture.device
    ) -> AgentCallID {
        lastAsked += 1
        let id = AgentCallID(number: lastAsked)
        input(.asked(id, question, device?.path ?? path, device))
        return id
    }

    /// An app's agent, while something needs pairing.
    mutating func makeAgent(_ agent: Int = 1, _ capability: PairingCapability = .keyboardDisplay) {
        input(.daemon(isReady: true))
        input(.needChanged(true))
        input(.activated(agent))
        input(.command(agent, .setCapability(capability), nil))
        answerAll()
    }

    mutating func answerAll() {
        while !calls.isEmpty { answer(calls[0].call.member) }
        for timer in agentTimers { input(.agentTimer(timer)) }
        agentTimers = []
        if !calls.isEmpty { answerAll() }
    }

    mutating func setPairable(_ isOn: Bool) { input(.pairableChanged(CentralRoleFixture.adapter, isOn: isOn)) }

    var members: [String] { calls.map(\.call.member) }

    func request(of agent: Int = 1) throws -> PairingRequestID {
        let requests = (events[agent] ?? []).compactMap { event in
            if case .requested(let id, _, _) = event { id } else { nil }
        }
        return try #require(requests.last)
    }

    static func error(_ name: String) -> DBusError {
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
}
#endif
