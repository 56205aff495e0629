#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// Pairing with `bluetoothd`, for all pairing agents of this process, and for an app without an agent.
///
/// Pure: its inputs are commands, calls of the daemon, changes of devices and replies; its outputs are calls, answers
/// and events.
///
/// An agent is registered while an app has one, and otherwise while something in this process may need pairing. It
/// becomes the default one only for an app's agent, while something may need pairing. It accepts what an app's agent
/// accepts, about devices with which this process needs pairing, and refuses everything else: other devices, services,
/// PIN codes. An app without an agent pairs with no device, unless ``BlueZConfiguration/acceptsJustWorksPairing`` is
/// set.
struct PairingRoleMachine: RoleMachine {
    typealias Input = PairingRoleInput

    /// An app's pairing agent.
    struct Manager: Sendable {
        /// The capability; nil until the app has set it.
        var capability: PairingCapability?
    }

    /// The number of an app's pairing agent.
    typealias Agent = HostLedger.Manager

    /// A device that a question or an operation concerns.
    struct Device: Hashable, Sendable {
        let path: ObjectPath
        let peer: PeerID
    }

    /// An unanswered question to an app.
    struct Question: Sendable {
        let id: PairingRequestID
        let agent: Agent
        let device: Device
        let kind: PairingQuestion
        /// The daemon's call; nil if the daemon waits for no answer.
        let call: IncomingCall.Number?
    }

    /// A pairing, or the end of a bond, that an app requested.
    struct BondOperation: Sendable {
        let agent: Agent
        let operation: OperationID
        let device: Device
        let isPairing: Bool
        /// Whether the device was connected before.
        let wasConnected: Bool

        func isPairing(_ device: Device) -> Bool { isPairing && self.device == device }
    }

    /// The unanswered questions, in order.
    struct Questions: Sendable {
        private(set) var open: [Question] = []
        private var last = PairingRequestID(rawValue: 0)

        /// Adds a question, and returns its number.
        mutating func add(
            _ kind: PairingQuestion, to agent: Agent, about device: Device, call: IncomingCall.Number?
        ) -> PairingRequestID {
            last = last.next
            open.append(Question(id: last, agent: agent, device: device, kind: kind, call: call))
            return last
        }

        mutating func remove(_ id: PairingRequestID) { open.removeAll { $0.id == id } }
    }

    /// The bonded peers, and the running pairings that no app of this process requested.
    struct Bonds: Sendable {
        var paired: [ObjectPath: PeerID] = [:]
        var running: [PeerID: ObjectPath] = [:]
    }

    enum CallPurpose: Sendable {
        case registration
        case bondOperation(BondOperation)
        case cleanup
    }

    /// The path of the exported agent.
    static let agentPath = ObjectPath("/CoreBluetooth/agent") ?? .root
    static let managerPath = ObjectPath("/org/bluez") ?? .root
    static let managerInterface = "org.bluez.AgentManager1"

    let objects: ObjectModel
    let timings: BlueZTimings
    /// Whether pairings without a number are accepted if no app has an agent.
    let acceptsJustWorks: Bool
    var isReady = false
    /// Whether a connection or a publication of this process may need pairing.
    var isNeeded = false
    var registration = AgentRegistration()
    /// The agents of apps; the newest one with a capability is asked.
    var managers: [Agent: Manager] = [:]
    var questions = Questions()
    /// Pairings that wait until our agent is registered, because bluetoothd then asks it about them.
    var waiting: [BondOperation] = []
    /// The last refusals in the log; their number is limited, because strangers can cause any number of them.
    var refusals = LRUCache<LoggedRefusal, Bool>(limit: 64)
    var bonds = Bonds()
    var outputs = RoleOutputs<PairingRoleEffect, CallPurpose>()

    init(objects: ObjectModel, timings: BlueZTimings = BlueZTimings(), acceptsJustWorks: Bool = false) {
        self.objects = objects
        self.timings = timings
        self.acceptsJustWorks = acceptsJustWorks
    }

    /// Processes one input.
    ///
    /// - Returns: The effects to perform, in this order.
    mutating func handle(_ input: PairingRoleInput, at _: Date) -> [PairingRoleEffect] {
        switch input {
        case .daemon(.phase(let phase)): daemonChanged(isReady: phase == .ready)
        case .daemon(.changed(let changes)): for change in changes { apply(change) }
        case .daemon(.snapshot): snapshotTaken()
        case .needChanged(let isNeeded): self.isNeeded = isNeeded
        case .activated(let agent): managers[agent] = Manager()
        case .invalidated(let agent): invalidate(agent)
        case .command(let agent, let command): if managers[agent] != nil { handle(command, of: agent) }
        case .called(let call, let isNeeded): handle(call, isNeeded: isNeeded)
        case .securityFailed(let peer):
            fail(peer, BackendError(.unknown, operation: "pair", message: "the peer or BlueZ ended the pairing"))
        case .reply(let call, let result): replied(call, result)
        case .timer(let key): if endTimer(key) { fired(key) }
        }
        register()
        noteSwitchedOff()
        return outputs.removeEffects()
    }

    private mutating func fired(_ timer: PairingTimer) {
        switch timer {
        case .agentChange: registration.waitOver()
        case .outcome(let peer): fail(peer, BackendError(.encryptionTimedOut, operation: "pair"), wasEnded: true)
        case .rebond(let peer): renewed(peer)
        }
    }

    // MARK: Changes of objects

    static func concerns(_ change: ObjectModel.Change) -> Bool {
        switch change {
        case .adapterAdded, .adapterRemoved, .deviceRemoved: true
        case .adapterChanged(_, let changes): changes.contains(.pairable)
        case .deviceChanged(_, let changes): !changes.isDisjoint(with: [.paired, .connected])
        default: false
        }
    }

    private mutating func apply(_ change: ObjectModel.Change) {
        switch change {
        case .adapterAdded(let path): pairableChanged(path)
        case .adapterChanged(let path, let changes): if changes.contains(.pairable) { pairableChanged(path) }
        case .adapterRemoved(let path): _ = registration.pairableChanged(on: path, to: nil)
        case .deviceChanged(let path, let changes): deviceChanged(path, changes)
        case .deviceRemoved(let path, _, _): removed(path)
        default: break
        }
    }

    private mutating func deviceChanged(_ path: ObjectPath, _ changes: Device1.Changes) {
        guard let object = objects.devices[path], let peer = objects.peer(at: path) else { return }
        if changes.contains(.paired) { pairedChanged(Device(path: path, peer: peer), object.isPaired) }
        if changes.contains(.connected), !object.isConnected {
            fail(peer, BackendError(.peerDisconnected, operation: "pair"))
        }
    }

    private mutating func snapshotTaken() {
        bonds.paired = [:]
        for (path, device) in objects.devices where device.isPaired { bonds.paired[path] = objects.peer(at: path) }
        for adapter in objects.adapters.keys.sorted() { pairableChanged(adapter) }
    }

    // MARK: Registration

    private mutating func daemonChanged(isReady: Bool) {
        guard isReady != self.isReady else { return }
        self.isReady = isReady
        guard !isReady else { return }
        registration.daemonWent()
        cancelQuestions(questions.open)
        let lost = bondOperations.map(\.operation) + waiting
        outputs.calls.removeAll()
        waiting = []
        for bondOperation in lost {
            failed(bondOperation, BackendError(.notConnected, operation: "pair", message: "bluetoothd is gone"))
        }
        for peer in bonds.running.keys { fail(peer, BackendError(.notConnected, operation: "pair")) }
        bonds.paired = [:]
    }

    /// The agent that receives the questions.
    var asker: (id: Agent, capability: PairingCapability)? {
        managers.compactMap { id, agent in agent.capability.map { (id, $0) } }.max { $0.0 < $1.0 }
    }

    /// The agent that must be registered now.
    ///
    /// `Device1.Pair` does not need the default one: bluetoothd asks the agent of the program that calls.
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
            call(.registration, Self.managerPath, Self.managerInterface, step.member, body, deadline: timings.discovery)
        }
        if registration.isSettled { beginWaiting() }
    }
}
#endif
