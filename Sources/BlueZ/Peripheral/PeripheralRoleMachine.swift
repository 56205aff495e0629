#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule
import FoundationEssentials

/// The peripheral role on one adapter, for all of this process's managers.
///
/// Pure, as ``CentralRoleMachine`` is: commands, signals, calls, replies and timers go in; calls, objects, answers, events and
/// timers come out.
struct PeripheralRoleMachine: Sendable {
    /// A manager that was activated.
    struct Manager: Sendable {
        /// The state it was told.
        var state: AdapterState?
        var applications: ApplicationTree
        /// The object of its advertisement, once it is registered.
        var advertisement: ObjectPath?
        /// Which values wait for their credit to come back; new at each first subscription of a central.
        var sessions: [PeerID: CreditSession] = [:]
    }

    /// A central's credits with a manager, from its first subscription to the end of its last.
    struct CreditSession: Hashable, Sendable {
        let manager: HostLedger.Manager
        let peer: PeerID
        let number: UInt64
    }

    /// A read or write that the app has not answered.
    struct Request: Sendable {
        let manager: HostLedger.Manager
        let call: IncomingCall.Number
        let peer: PeerID
        let path: ObjectPath
    }

    /// The links and subscriptions that seem to have ended; see ``PeripheralTimings/quiescence``.
    struct Leaving: Sendable {
        /// Whether the link has, and so everything.
        var isGone = false
        var isBonded = false
        /// The subscriptions that have.
        var paths: Set<ObjectPath> = []
    }

    /// Why a call was made.
    enum CallPurpose: Sendable {
        case registration
        /// A round trip: what was sent before has reached the daemon.
        case roundTrip([CreditSession: Int])
        /// Its outcome changes nothing.
        case cleanup
    }

    /// How many values one central may have on their way to the daemon.
    static let notifyCredits = 20
    /// Source: Core Specification, Vol 3, Part G, 5.2.1.
    static let minimumMTU = 23

    let timings: PeripheralTimings
    private let base: ObjectPath

    var watch: AdapterWatch
    let objects: ObjectModel
    var state = AdapterState.unknown
    var managers: [HostLedger.Manager: Manager] = [:]
    /// Centrals that a call named before their connection was told.
    var expected: [ObjectPath: PeerID] = [:]
    var directory = PeerDirectory(adapterAddress: "")
    var directoryAddress = ""
    /// How many devices out of reach are remembered; nil before a manager said so.
    private(set) var rememberedPeers: Int?
    var mtus: [PeerID: Int] = [:]
    var subscriptions = Subscriptions()
    /// Centrals that seem to have left, or to have unsubscribed; not told yet.
    var leaving: [PeerID: Leaving] = [:]
    var requests: [RequestID: Request] = [:]
    var jobs: Deque<RegistrationJob> = []
    /// The registration that is under way.
    var registration: Registration?
    /// Values that were broadcast since the last round trip began, by whose credit they cost.
    var unacknowledged: [CreditSession: Int] = [:]
    var isRoundTripPending = false
    /// Values that were given to a socket and that it has not sent, by whose credit they cost.
    var unsent: [SocketID: (session: CreditSession, count: Int)] = [:]
    /// Who listens for channels of which number.
    var listeners: [UInt16: HostLedger.Manager] = [:]
    /// The numbers whose channels require encryption.
    var encryptedListeners: Set<UInt16> = []
    var channels: [ChannelID: OpenChannel] = [:]
    /// Whether something that is published requires encryption.
    private(set) var mayNeedPairing = false
    /// Characteristics whose subset updates were complained about.
    var complaints: Set<ObjectPath> = []

    private var calls: [CallID: CallPurpose] = [:]
    private var timers: Set<PeripheralTimer> = []
    private var effects: [PeripheralRoleEffect] = []
    private var lastNumber: UInt64 = 0

    /// - Parameter base: Where this role's objects are.
    init(
        selector: AdapterSelector, objects: ObjectModel, base: ObjectPath,
        adapterTimings: BlueZTimings = BlueZTimings(), timings: PeripheralTimings = PeripheralTimings()
    ) {
        self.objects = objects
        self.base = base
        self.timings = timings
        watch = AdapterWatch(selector, adapterTimings) { $0.supportsPeripheral }
    }

    /// Takes in one input.
    ///
    /// - Returns: What to do, in this order.
    mutating func handle(_ input: PeripheralRoleInput) -> [PeripheralRoleEffect] {
        switch input {
        case .daemon(.phase(let phase)): daemonChanged(phase)
        case .daemon(.changed(let changes)): for change in changes { apply(change) }
        case .daemon(.snapshot(let changes)):
            updateState()
            for change in changes { apply(change) }
        case .reply(let call, let result): replied(call, result)
        case .called(let call): handle(call)
        case .socket(let socket, let event): handle(event, of: socket)
        case .listening(let manager, let operation, let result, let isEncryptionRequired):
            listening(manager, operation, result, isEncryptionRequired: isEncryptionRequired)
        case .channelAccepted(let psm, let opening, let address): accepted(psm, opening, from: address)
        case .channelEnded(let channel): channelEnded(channel)
        case .timer(let key): if timers.remove(key) != nil { fired(key) }
        case .activated(let manager): activate(manager)
        case .command(let manager, let command): if managers[manager] != nil { handle(command, from: manager) }
        case .invalidated(let manager): invalidate(manager)
        }
        runJobs()
        roundTrip()
        notePairingNeed()
        defer { effects = [] }
        return effects
    }

    mutating func remember(atLeast limit: Int) {
        let new = max(rememberedPeers ?? 1, limit)
        rememberedPeers = new
        directory.changeLimit(to: new)
    }

    // MARK: Effects

    mutating func perform(_ effect: PeripheralRoleEffect) { effects.append(effect) }

    mutating func deliver(_ manager: HostLedger.Manager, _ event: PeripheralEvent) {
        if managers[manager] != nil { effects.append(.deliver(manager, event)) }
    }

    mutating func call(_ purpose: CallPurpose, _ call: MethodCall) {
        let id = CallID(number: newNumber())
        calls[id] = purpose
        effects.append(.call(id, call))
    }

    /// A call of a manager interface of the adapter.
    mutating func callAdapter(_ purpose: CallPurpose, _ interface: String, _ member: String, _ body: [DBusValue]) {
        guard let adapter = watch.adapter else { return }
        call(
            purpose,
            MethodCall(
                path: adapter, interface: interface, member: member, body: body, deadline: timings.registration))
    }

    mutating func start(_ timer: PeripheralTimer, _ delay: Duration) {
        timers.insert(timer)
        effects.append(.startTimer(timer, delay))
    }

    mutating func stop(_ timer: PeripheralTimer) {
        if timers.remove(timer) != nil { effects.append(.stopTimer(timer)) }
    }

    mutating func log(_ level: LogMessage.Level, _ text: String) {
        effects.append(.log(LogMessage(level: level, text: text)))
    }

    private mutating func notePairingNeed() {
        let isNeeded =
            state == .poweredOn
            && (!encryptedListeners.isEmpty || managers.values.contains(where: \.applications.needsEncryption))
        guard isNeeded != mayNeedPairing else { return }
        mayNeedPairing = isNeeded
        perform(.pairingNeedChanged(isNeeded))
    }

    mutating func newNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Where a manager's objects are.
    func path(of manager: HostLedger.Manager) -> ObjectPath { base.appending("manager\(manager)") }

    /// The manager whose object is at a path.
    func manager(of path: ObjectPath) -> HostLedger.Manager? {
        managers.keys.first { path.isBelow(self.path(of: $0)) }
    }

    // MARK: Dispatch

    /// Advertisements and attributes of remote devices are of no use here.
    static func concerns(_ change: ObjectModel.Change) -> Bool {
        switch change {
        case .adapterAdded, .adapterChanged, .adapterRemoved, .deviceAdded, .deviceRemoved: true
        case .deviceChanged(_, let changes): !changes.isDisjoint(with: [.address, .connected, .paired])
        default: false
        }
    }

    private mutating func apply(_ change: ObjectModel.Change) {
        switch change {
        case .adapterAdded, .adapterChanged, .adapterRemoved: updateState()
        case .deviceAdded(let path): deviceAdded(path)
        case .deviceChanged(let path, let changes): deviceChanged(path, changes)
        case .deviceRemoved(let path, let device): deviceRemoved(path, device)
        default: break
        }
    }

    private mutating func handle(_ command: PeripheralCommand, from manager: HostLedger.Manager) {
        switch command {
        case .removeService(let id): enqueue(.removeService(manager, id))
        case .removeAllServices: enqueue(.removeAllServices(manager))
        case .stopAdvertising: enqueue(.stopAdvertising(manager))
        default: if state == .poweredOn { handleWhenOn(command, from: manager) }
        }
    }

    private mutating func handleWhenOn(_ command: PeripheralCommand, from manager: HostLedger.Manager) {
        switch command {
        case .addService(let operation, let service): enqueue(.addService(manager, operation, service))
        case .startAdvertising(let operation, let advertisement):
            enqueue(.startAdvertising(manager, operation, advertisement))
        case .respond(let request, let code, let value): respond(manager, request, code, value)
        case .updateValue(let attribute, let value, let centrals): update(manager, attribute, value, centrals)
        case .setConnectionLatency: log(.debug, "BlueZ has no call for the latency of a connection")
        case .publishChannel(let operation, let isEncryptionRequired):
            publishChannel(manager, operation, isEncryptionRequired: isEncryptionRequired)
        case .unpublishChannel(let operation, let psm): unpublishChannel(manager, operation, psm)
        case .channel(let channel, let command): use(channel, command, by: manager)
        // Done in any state.
        case .removeService, .removeAllServices, .stopAdvertising: break
        }
    }

    private mutating func replied(_ id: CallID, _ result: Result<[DBusValue], DBusError>) {
        // Calls that a lost daemon or adapter left behind have no purpose any more.
        guard let purpose = calls.removeValue(forKey: id) else { return }
        switch purpose {
        case .registration: registrationReplied(result.failure)
        case .roundTrip(let sessions): roundTripCompleted(sessions)
        case .cleanup: break
        }
    }

    private mutating func fired(_ timer: PeripheralTimer) {
        switch timer {
        case .adapterReturn:
            watch.comebackOver()
            updateState()
        case .request(let request): expire(request)
        case .leaving(let peer): confirmLeaving(peer)
        case .quiescence(let path): settle(path)
        }
    }

    /// The daemon is gone, and all that was asked of it.
    mutating func forgetCalls() {
        calls = [:]
        for timer in timers where timer != .adapterReturn { stop(timer) }
    }
}
#endif
