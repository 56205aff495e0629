#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Pairing at `bluetoothd`, for all of this process's pairing agents, and for an app that has none.
///
/// Pure: commands, calls of the daemon, changes of devices and replies go in; calls, answers and events come out.
///
/// An app without an agent pairs as a device without display and keyboard does: what its own links need is agreed to,
/// and everything else refused.
struct PairingHost: Sendable {
    /// An app's pairing agent, as ``PairingRadio`` numbers it.
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
    struct Wish: Sendable {
        let agent: Agent
        let operation: OperationID
        let device: PairingDevice
        let isPairing: Bool
    }

    enum CallPurpose: Sendable {
        case registration
        case wish(Wish)
        case cleanup
    }

    /// Where our agent is exported.
    static let agentPath = ObjectPath("/CoreBluetooth/agent") ?? .root
    static let managerPath = ObjectPath("/org/bluez") ?? .root
    static let managerInterface = "org.bluez.AgentManager1"

    let timings: BlueZTimings
    var isReady = false
    var isWanted = false
    var registration = AgentRegistration()
    /// In the order of their coming; the last one is asked.
    var agents: [(id: Agent, capability: PairingCapability)] = []
    var questions: [Question] = []
    var calls: [CallID: CallPurpose] = [:]
    /// Peers that a pairing is under way with which nobody here has asked for.
    var running: [PeerID: ObjectPath] = [:]
    /// Pairings that the daemon gave up, and whose link may tell why.
    var givenUp: Set<PeerID> = []
    /// Bonded peers that pair anew, and whose questions are answered.
    var renewing: Set<PeerID> = []
    var paired: [ObjectPath: PeerID] = [:]
    var lastQuestion = PairingRequestID(rawValue: 0)
    var lastCall: UInt64 = 0
    var effects: [PairingEffect] = []

    init(timings: BlueZTimings = BlueZTimings()) { self.timings = timings }

    /// Takes in one input.
    ///
    /// - Returns: What to do, in this order.
    mutating func handle(_ input: PairingInput) -> [PairingEffect] {
        switch input {
        case .daemon(let isReady): daemonChanged(isReady)
        case .wanted: isWanted = true
        case .activated(let agent): agents.append((agent, .noInputNoOutput))
        case .invalidated(let agent): invalidate(agent)
        case .command(let agent, let command, let device): handle(command, of: agent, device)
        case .asked(let call, let kind, let device): asked(call, kind, device)
        case .cancelled: cancelled()
        case .released: registration.reset()
        case .snapshot(let devices): paired = Dictionary(devices.map { ($0.path, $0.peer) }) { $1 }
        case .pairedChanged(let device, let isPaired): pairedChanged(device, isPaired)
        case .removed(let path): removed(path)
        case .disconnected(let peer): fail(peer, BackendError(.peerDisconnected, operation: "pair"))
        case .bondingChanged(let adapter, let isOn): registration.bondingChanged(on: adapter, to: isOn)
        case .securityFailed(let peer):
            fail(peer, BackendError(.unknown, operation: "pair", message: "the peer or BlueZ ended the pairing"))
        case .reply(let call, let result): replied(call, result)
        case .timer(let peer):
            if givenUp.contains(peer) { fail(peer, BackendError(.encryptionTimedOut, operation: "pair")) }
            if renewing.remove(peer) != nil { renewed(peer) }
        }
        register()
        for adapter in registration.takeRepairs() { allowBonding(adapter) }
        defer { effects = [] }
        return effects
    }

    // MARK: Registration

    mutating func daemonChanged(_ isReady: Bool) {
        guard isReady != self.isReady else { return }
        self.isReady = isReady
        guard !isReady else { return }
        registration.reset()
        void(questions)
        let lost = calls.values
        calls = [:]
        for case .wish(let wish) in lost {
            failed(wish, BackendError(.notConnected, operation: "pair", message: "bluetoothd is gone"))
        }
        for peer in running.keys { fail(peer, BackendError(.notConnected, operation: "pair")) }
        paired = [:]
    }

    mutating func register() {
        registration.wanted = agents.last?.capability ?? (isWanted ? .noInputNoOutput : nil)
        guard isReady, let step = registration.nextStep() else { return }
        var body: [DBusValue] = [.objectPath(Self.agentPath)]
        if case .register(let capability) = step { body.append(.string(capability.bluezName)) }
        call(.registration, Self.managerPath, Self.managerInterface, step.member, body, timings.discovery)
    }

    mutating func call(
        _ purpose: CallPurpose, _ path: ObjectPath, _ interface: String, _ member: String, _ body: [DBusValue] = [],
        _ deadline: Duration
    ) {
        lastCall += 1
        let id = CallID(number: lastCall)
        calls[id] = purpose
        effects.append(
            .call(id, MethodCall(path: path, interface: interface, member: member, body: body, deadline: deadline)))
    }
}
#endif
