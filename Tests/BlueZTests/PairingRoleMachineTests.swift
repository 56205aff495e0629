#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// The pairing role machine, with a fake daemon.
@Suite struct PairingRoleMachineTests {
    /// The outcome of a question of the daemon.
    enum Answer: Equatable {
        case accept
        case passkey(UInt32)
        case reject
    }

    let objects: ObjectModel
    var host: PairingRoleMachine
    var calls: [(id: CallID, call: MethodCall)] = []
    var answers: [IncomingCall.Number: Answer] = [:]
    var events: [PairingRoleMachine.Agent: [PairingEvent]] = [:]
    var timers: [PairingTimer] = []
    var refused: [PeerID] = []
    var warnings: [String] = []
    /// A connected device with which this process needs pairing.
    let device = CentralRoleFixture.device
    let peer: PeerID
    var isNeeded = true
    var lastCall: UInt64 = 0

    init() {
        objects = ObjectModel()
        host = PairingRoleMachine(objects: objects)
        let interfaces = CentralRoleFixture.deviceObject(["Connected": .boolean(true)])
        _ = DaemonMessage.interfacesAdded(CentralRoleFixture.adapter, CentralRoleFixture.adapterObject()).apply(
            to: objects)
        _ = DaemonMessage.interfacesAdded(device, interfaces).apply(to: objects)
        peer = objects.peer(at: device) ?? PeerID(UUID())
    }

    mutating func input(_ input: PairingRoleInput) {
        for effect in host.handle(input, at: CentralRoleFixture.date) {
            switch effect {
            case .call(let id, let call): calls.append((id, call))
            case .answer(let id, let values): answers[id] = values.first?.uint32Value.map { .passkey($0) } ?? .accept
            case .refuse(let id, _): answers[id] = .reject
            case .deliver(let agent, let event): events[agent, default: []].append(event)
            case .startTimer(let timer, _): timers.append(timer)
            case .stopTimer(let timer): timers.removeAll { $0 == timer }
            case .refused(let peer): refused.append(peer)
            case .log(let message): if message.level == .warning { warnings.append(message.text) }
            }
        }
    }

    mutating func receive(_ message: DaemonMessage) { input(.daemon(message.apply(to: objects))) }

    mutating func set(_ properties: [String: DBusValue], of path: ObjectPath? = nil) {
        let interface = path == CentralRoleFixture.adapter ? Adapter1.interface : Device1.interface
        receive(.propertiesChanged(path ?? device, interface, properties))
    }

    mutating func setPaired(_ isPaired: Bool) { set(["Paired": .boolean(isPaired)]) }

    mutating func disconnect() { set(["Connected": .boolean(false)]) }

    mutating func setPairable(_ isOn: Bool) { set(["Pairable": .boolean(isOn)], of: CentralRoleFixture.adapter) }

    mutating func daemonComes() { input(.daemon(.phase(.ready))) }

    mutating func fire(_ timer: PairingTimer) { input(.timer(timer)) }

    mutating func answer(_ member: String, _ result: Result<[DBusValue], DBusError> = .success([])) {
        guard let index = calls.firstIndex(where: { $0.call.member == member }) else {
            Issue.record("no call of \(member) in \(calls.map(\.call.member))")
            return
        }
        let (id, call) = calls.remove(at: index)
        input(.reply(id, result.map(call.reply(of:))))
    }

    mutating func ask(_ question: PairingQuestion, about path: ObjectPath? = nil) -> IncomingCall.Number {
        switch question {
        case .consent: ask("RequestAuthorization", about: path)
        case .enterPasskey: ask("RequestPasskey", about: path)
        case .confirm(let passkey): ask("RequestConfirmation", about: path, .uint32(UInt32(passkey)))
        case .display(let passkey): ask("DisplayPasskey", about: path, .uint32(UInt32(passkey)), .uint16(0))
        // The daemon has no such call.
        case .outOfBand: ask("RequestOutOfBand", about: path)
        }
    }

    mutating func ask(_ member: String, about path: ObjectPath? = nil, _ more: DBusValue...) -> IncomingCall.Number {
        call(member, [.objectPath(path ?? device)] + more)
    }

    /// Calls the agent, as the daemon.
    @discardableResult
    mutating func call(_ member: String, _ arguments: [DBusValue] = []) -> IncomingCall.Number {
        lastCall += 1
        let number = IncomingCall.Number(rawValue: lastCall)
        let call = IncomingCall(
            number: number, path: PairingRoleMachine.agentPath, member: member, arguments: arguments)
        input(.called(call, isNeeded: isNeeded))
        return number
    }

    /// Creates an app's agent, while something needs pairing.
    mutating func makeAgent(_ agent: Int = 1, _ capability: PairingCapability = .keyboardDisplay) {
        daemonComes()
        input(.needChanged(true))
        input(.activated(agent))
        input(.command(agent, .setCapability(capability)))
        answerAll()
    }

    mutating func answerAll() {
        while !calls.isEmpty { answer(calls[0].call.member) }
        if timers.contains(.agentChange) { fire(.agentChange) }
        timers.removeAll { $0 == .agentChange }
        if !calls.isEmpty { answerAll() }
    }

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
        daemonComes()
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
        daemonComes()
        input(.activated(1))
        input(.command(1, .setCapability(.displayYesNo)))
        #expect(calls.first?.call.body.last == .string("DisplayYesNo"))
        answer("RegisterAgent")
        #expect(calls.isEmpty, "a desktop's agent stays the default one")
        input(.needChanged(true))
        #expect(members == ["RequestDefaultAgent"])
        answer("RequestDefaultAgent")
        input(.needChanged(false))
        // BlueZ has no other way to stop being the default one.
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
        // It is registered to refuse, and does not precede others as the default one.
        input(.needChanged(false))
        #expect(members == ["UnregisterAgent"])
    }

    @Test(
        arguments: zip(
            [PairingCapability.displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay],
            ["DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay"]))
    mutating func theCapabilityIsTheApps(capability: PairingCapability, name: String) {
        daemonComes()
        input(.activated(1))
        input(.command(1, .setCapability(capability)))
        input(.needChanged(true))
        #expect(calls.first?.call.body.last == .string(name))
    }

    @Test mutating func anotherCapabilityTakesAnotherAgent() {
        daemonComes()
        input(.needChanged(true))
        answer("RegisterAgent")
        input(.activated(1))
        input(.command(1, .setCapability(.displayOnly)))
        answer("UnregisterAgent")
        #expect(calls.first?.call.body.last == .string("DisplayOnly"))
    }

    @Test mutating func aRefusedAgentIsNotTriedForEver() {
        input(.needChanged(true))
        daemonComes()
        answer("RegisterAgent", .failure(Self.error("InvalidArguments")))
        #expect(calls.isEmpty && warnings.count == 1)
        // A new daemon may accept it.
        receive(.phase(.lost))
        daemonComes()
        #expect(members == ["RegisterAgent"])
    }

    @Test mutating func aReleasedAgentIsRegisteredAgain() {
        makeAgent()
        call("Release")
        #expect(members == ["RegisterAgent"])
    }

    // MARK: Pairable

    /// The kernel confirms this a moment later; an agent that is registered before would have no bonds.
    @Test mutating func theNextAgentWaitsUntilBlueZHasSwitchedPairingOff() {
        makeAgent(1, .displayOnly)
        setPairable(true)
        input(.command(1, .setCapability(.keyboardOnly)))
        answer("UnregisterAgent")
        #expect(calls.isEmpty)
        setPairable(false)
        #expect(members == ["RegisterAgent"])
    }

    @Test mutating func theNextAgentComesAfterAMomentWhereAnotherAgentKeepsPairingOn() {
        makeAgent(1, .displayOnly)
        setPairable(true)
        input(.command(1, .setCapability(.keyboardOnly)))
        answer("UnregisterAgent")
        #expect(calls.isEmpty)
        fire(.agentChange)
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
        daemonComes()
        input(.activated(1))
        input(.command(1, .setCapability(.displayOnly)))
        input(.needChanged(true))
        answerAll()
        #expect(calls.isEmpty && warnings.count == 1)
        setPairable(true)
        #expect(members == ["RequestDefaultAgent"])
    }

    /// BlueZ switches it on for the agent that becomes the default one.
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

    @Test func aChangeOfPowerOrOfAnAdvertisementDoesNotConcernPairing() {
        let adapter = CentralRoleFixture.adapter
        #expect(PairingRoleMachine.concerns(.adapterChanged(adapter, [.power, .pairable])))
        #expect(PairingRoleMachine.concerns(.deviceChanged(device, [.name, .paired])))
        #expect(!PairingRoleMachine.concerns(.adapterChanged(adapter, [.power, .discovering])))
        #expect(!PairingRoleMachine.concerns(.deviceChanged(device, [.name, .advertisement])))
        #expect(!PairingRoleMachine.concerns(.valueChanged(CentralRoleFixture.characteristic, of: device, Data())))
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
        let ours = ask(.consent)
        #expect(answers[ours] == .reject)
        #expect(warnings.count == 1 && warnings[0].contains("CBPairingAgent"))
        #expect(refused == [peer], "what needed it receives the refusal")
        let again = ask(.consent)
        #expect(answers[again] == .reject && warnings.count == 1, "logged once")
    }

    @Test mutating func theSettingAgreesToWhatThisProcessNeedsAndToNothingElse() {
        host = PairingRoleMachine(objects: objects, acceptsJustWorks: true)
        input(.needChanged(true))
        let ours = ask(.consent)
        #expect(answers[ours] == .accept)
        setPaired(true)
        isNeeded = false
        let others = ask(.consent)
        #expect(answers[others] == .reject)
        let unknown = ask(.consent, about: CentralRoleFixture.path("/org/bluez/hci0/dev_00"))
        #expect(answers[unknown] == .reject)
        #expect(!members.contains("Set"), "no device is marked as trusted")
    }

    @Test(arguments: [PairingQuestion.enterPasskey, .confirm(passkey: 1), .display(passkey: 1)])
    mutating func numbersNeedAnAgent(question: PairingQuestion) {
        host = PairingRoleMachine(objects: objects, acceptsJustWorks: true)
        input(.needChanged(true))
        let call = ask(question)
        #expect(answers[call] == .reject)
        #expect(warnings.count == 1 && warnings[0].contains("CBPairingAgent"))
    }

    @Test(arguments: [true, false], [true, false])
    mutating func noServiceIsEverAuthorized(hasAgent: Bool, isAccepting: Bool) {
        host = PairingRoleMachine(objects: objects, acceptsJustWorks: isAccepting)
        if hasAgent { makeAgent() } else { input(.needChanged(true)) }
        let call = ask("AuthorizeService", .string("00001124-0000-1000-8000-00805f9b34fb"))
        #expect(answers[call] == .reject && events[1] == nil)
        #expect(warnings.count == 1 && warnings[0].contains("00001124"))
        let pin = ask("RequestPinCode")
        #expect(answers[pin] == .reject && warnings.count == 2)
    }

    @Test mutating func anAppIsNotAskedAboutDevicesThatItHasNothingToDoWith() {
        makeAgent()
        isNeeded = false
        let call = ask(.confirm(passkey: 1))
        #expect(answers[call] == .reject && events[1] == nil && refused.isEmpty)
        #expect(warnings.count == 1 && warnings[0].contains("bluetoothctl pair"))
    }

    @Test mutating func theLogOfRefusalsIsBounded() {
        input(.needChanged(true))
        let limit = host.refusals.limit
        for number in 0...limit {
            let path = CentralRoleFixture.path("/org/bluez/hci0/dev_\(number)")
            for _ in 0..<2 { _ = ask("RequestPinCode", about: path) }
        }
        #expect(warnings.count == limit + 1)
        _ = ask("RequestPinCode", about: CentralRoleFixture.path("/org/bluez/hci0/dev_0"))
        #expect(warnings.count == limit + 2, "the first was forgotten")
    }
}
#endif
