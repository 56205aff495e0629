#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Pairing at `bluetoothd`, for all of this process's pairing agents, and for an app that has none.
///
/// Pure: commands, calls of the daemon, changes of devices and replies go in; calls, answers and events come out.
///
/// An agent is registered while an app has one, and otherwise while something of this process may need pairing. It is made
/// the default one for an app's agent alone, while something may need that. It agrees to what an app's agent agrees to, about devices that this process needs to be paired
/// with, and refuses everything else: other devices, services, PIN codes. An app without an agent pairs with no one, unless
/// ``BlueZConfiguration/acceptsJustWorksPairing`` says so.
struct PairingRoleMachine: Sendable {
    /// An app's pairing agent, as ``PairingDriver`` numbers it.
    typealias Agent = Int

    /// A question that an app has not answered.
    struct Question: Sendable {
        let id: PairingRequestID
        let agent: Agent
        let device: PairingDevice
        let kind: PairingQuestion
        /// The daemon's call; nil where it waits for no answer.
        let call: AgentCallID?
    }

    /// What an app asked for.
    struct BondOperation: Sendable {
        let agent: Agent
        let operation: OperationID
        let device: PairingDevice
        let isPairing: Bool
    }

    /// The questions that apps have not answered, in the order of asking.
    struct Questions: Sendable {
        private(set) var open: [Question] = []
        private var last = PairingRequestID(rawValue: 0)

        /// Adds a question, and gives its number.
        mutating func add(
            _ kind: PairingQuestion, to agent: Agent, about device: PairingDevice, call: AgentCallID?
        ) -> PairingRequestID {
            last = last.next
            open.append(Question(id: last, agent: agent, device: device, kind: kind, call: call))
            return last
        }

        mutating func remove(_ id: PairingRequestID) { open.removeAll { $0.id == id } }
    }

    /// The peers that are bonded, and the pairings under way that no app of this process asked for.
    struct Bonds: Sendable {
        var paired: [ObjectPath: PeerID] = [:]
        var running: [PeerID: ObjectPath] = [:]
        /// Pairings that the daemon ended, and whose link may tell why.
        var ended: Set<PeerID> = []
        /// Bonded peers that pair anew, and whose questions are answered.
        var renewing: Set<PeerID> = []
    }

    enum CallPurpose: Sendable {
        case registration
        case bondOperation(BondOperation)
        case cleanup
    }

    /// Where our agent is exported.
    static let agentPath = ObjectPath("/CoreBluetooth/agent") ?? .root
    static let managerPath = ObjectPath("/org/bluez") ?? .root
    static let managerInterface = "org.bluez.AgentManager1"

    let timings: BlueZTimings
    /// Whether pairings without a number are agreed to where no app's agent is there to ask.
    let acceptsJustWorks: Bool
    var isReady = false
    /// Whether a connection or a publication of this process may need pairing.
    var isNeeded = false
    var registration = AgentRegistration()
    /// In the order of their coming; the last one that has told its capability is asked.
    var agents: [(id: Agent, capability: PairingCapability?)] = []
    var questions = Questions()
    /// Pairings that wait for our agent to be registered, which bluetoothd then asks about them.
    var waiting: [BondOperation] = []
    var refusals = RefusalLog()
    var calls = CallTable<CallPurpose>()
    var bonds = Bonds()
    var effects: [PairingRoleEffect] = []

    init(timings: BlueZTimings = BlueZTimings(), acceptsJustWorks: Bool = false) {
        self.timings = timings
        self.acceptsJustWorks = acceptsJustWorks
    }

    /// Takes in one input.
    ///
    /// - Returns: What to do, in this order.
    mutating func handle(_ input: PairingRoleInput) -> [PairingRoleEffect] {
        switch input {
        case .daemon(let isReady): daemonChanged(isReady)
        case .needChanged(let isNeeded): self.isNeeded = isNeeded
        case .activated(let agent): agents.append((agent, nil))
        case .invalidated(let agent): invalidate(agent)
        case .command(let agent, let command, let device): handle(command, of: agent, device)
        case .asked(let call, let question, let path, let device): asked(call, question, path, device)
        case .cancelled: cancelled()
        case .released: registration.reset()
        case .snapshot(let devices, let pairable):
            bonds.paired = Dictionary(devices.map { ($0.path, $0.peer) }) { $1 }
            for (adapter, isOn) in pairable { pairableChanged(adapter, isOn) }
        case .pairedChanged(let device, let isPaired): pairedChanged(device, isPaired)
        case .removed(let path): removed(path)
        case .disconnected(let peer): fail(peer, BackendError(.peerDisconnected, operation: "pair"))
        case .pairableChanged(let adapter, let isOn): pairableChanged(adapter, isOn)
        case .securityFailed(let peer):
            fail(peer, BackendError(.unknown, operation: "pair", message: "the peer or BlueZ ended the pairing"))
        case .reply(let call, let result): replied(call, result)
        case .timer(let peer):
            if bonds.ended.contains(peer) { fail(peer, BackendError(.encryptionTimedOut, operation: "pair")) }
            if bonds.renewing.remove(peer) != nil { renewed(peer) }
        case .agentTimer(let number): registration.waitOver(number)
        }
        register()
        noteSwitchedOff()
        defer { effects = [] }
        return effects
    }

    // MARK: Registration

    mutating func daemonChanged(_ isReady: Bool) {
        guard isReady != self.isReady else { return }
        self.isReady = isReady
        guard !isReady else { return }
        registration.daemonWent()
        cancelQuestions(questions.open)
        let lost =
            calls.purposes.values.compactMap {
                if case .bondOperation(let bondOperation) = $0 { bondOperation } else { nil }
            }
            + waiting
        calls.removeAll()
        waiting = []
        for bondOperation in lost {
            failed(bondOperation, BackendError(.notConnected, operation: "pair", message: "bluetoothd is gone"))
        }
        for peer in bonds.running.keys { fail(peer, BackendError(.notConnected, operation: "pair")) }
        bonds.paired = [:]
    }

    /// The agent that is asked.
    var asker: (id: Agent, capability: PairingCapability)? {
        agents.last { $0.capability != nil }.flatMap { agent in agent.capability.map { (agent.id, $0) } }
    }

    /// What our agent should be now.
    ///
    /// For `Device1.Pair` it need not be the default one: bluetoothd asks the agent of the program that calls.
    ///
    /// BlueZ pitfall: the kernel takes a link's capability when the link begins (`hci_conn_add`), so an app's agent is
    /// registered before anything needs it.
    private var wanted: AgentRegistration.Wanted? {
        guard let capability = asker?.capability else {
            return isNeeded ? AgentRegistration.Wanted(capability: .noInputNoOutput) : nil
        }
        return AgentRegistration.Wanted(
            capability: capability, isDefault: isNeeded || isPairing && registration.isDefault)
    }

    mutating func register() {
        registration.wanted = wanted
        guard isReady else { return }
        if let step = registration.nextStep() {
            var body: [DBusValue] = [.objectPath(Self.agentPath)]
            if case .register(let capability) = step { body.append(.string(capability.bluezName)) }
            call(.registration, Self.managerPath, Self.managerInterface, step.member, body, timings.discovery)
        }
        if registration.isSettled { beginWaiting() }
    }

    mutating func call(
        _ purpose: CallPurpose, _ path: ObjectPath, _ interface: String, _ member: String, _ body: [DBusValue] = [],
        _ deadline: Duration
    ) {
        let id = calls.add(purpose)
        effects.append(
            .call(id, MethodCall(path: path, interface: interface, member: member, body: body, deadline: deadline)))
    }
}
#endif
