#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// The central role on one adapter, for all of this process's managers.
///
/// Pure: commands, signals, replies and timers go in; calls, events and timers come out. It has no bus, no clock, no
/// lock and no thread, so a test can put it through anything.
struct CentralRoleMachine: Sendable {
    /// A manager that was activated.
    struct Manager: Sendable {
        /// The state it was told.
        var state: AdapterState?
        /// Which reports its scan has had.
        var filter: ScanReportFilter?
        var connectionEvents: ConnectionEventFilter?
    }

    /// Why a call was made.
    enum CallPurpose: Sendable {
        case discovery
        case connect(PeerID)
        case disconnect(PeerID)
        case operation(PeerID)
        case signalStrength(LinkState.Operation)
        case resubscription(PeerID, ObjectPath)
        /// Its outcome changes nothing.
        case cleanup
    }

    let timings: BlueZTimings

    let objects: ObjectModel
    var watch: AdapterWatch
    var state = AdapterState.unknown
    var managers: [HostLedger.Manager: Manager] = [:]
    var ledger = HostLedger() {
        didSet { needsPreserving = true }
    }
    /// What is kept of managers with a restore identifier.
    var preservations: [HostLedger.Manager: Preservation] = [:]
    /// Whether what is kept may differ from what is.
    var needsPreserving = false
    /// What the managers' scans come to; see ``scansChanged(restart:)``.
    var scan: ScanParameters?
    var directory = PeerDirectory(adapterAddress: "")
    /// How many devices out of reach are remembered; nil before a manager said so.
    private(set) var rememberedPeers: Int?
    var discovery = DiscoverySession()
    var connects = ConnectScheduler()
    /// Peers whose `Connect` succeeded, but whose `Connected` is not known to be true.
    var unseen: Set<PeerID> = []
    var links: [PeerID: CopyOnWrite<LinkState>] = [:]
    var calls: [CallID: CallPurpose] = [:]
    /// Open L2CAP channels, and whose they are.
    var channels: [ChannelID: OpenChannel] = [:]
    /// Sockets for write commands, and whose link they belong to.
    var sockets: [WriteSocketID: PeerID] = [:]
    var lastSocket: UInt64 = 0
    var timers: Set<CentralTimer> = []
    /// Whether a connection is there, or being made, that may need pairing.
    private var mayNeedPairing = false
    /// Whether the daemon has told a reason for a disconnect, as it does from 5.83 on.
    var tellsDisconnectReasons = false

    private var lastCall: UInt64 = 0
    private var effects: [CentralRoleEffect] = []
    private(set) var date = Date(timeIntervalSince1970: 0)

    init(selector: AdapterSelector, objects: ObjectModel, timings: BlueZTimings = BlueZTimings()) {
        self.objects = objects
        self.timings = timings
        watch = AdapterWatch(selector, timings) { $0.supportsCentral }
    }

    /// Takes in one input.
    ///
    /// - Parameter date: The time of it, for events that carry one.
    /// - Returns: What to do, in this order.
    mutating func handle(_ input: CentralRoleInput, at date: Date) -> [CentralRoleEffect] {
        self.date = date
        switch input {
        case .daemon(.phase(let phase)): daemonChanged(phase)
        case .daemon(.changed(let changes)): for change in changes { apply(change, isSnapshot: false) }
        case .daemon(.snapshot(let changes)):
            updateState()
            for change in changes { apply(change, isSnapshot: true) }
            snapshotTaken()
        case .reply(let call, let result): replied(call, result)
        case .channelReply(let call, let result): channelReplied(call, result)
        case .signalStrength(let call, let result): signalStrengthReplied(call, result)
        case .channelEnded(let channel): channelEnded(channel)
        case .socket(let socket, let event): socketHappened(socket, event)
        case .pairingRefused(let peer): pairingRefused(peer)
        case .timer(let key): if timers.remove(key) != nil { fired(key) }
        case .restoring(let manager, let left): keep(manager, left)
        case .activated(let manager): activate(manager)
        case .command(let manager, let command): if managers[manager] != nil { handle(command, from: manager) }
        case .invalidated(let manager): invalidate(manager)
        }
        runDiscovery()
        preserve()
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

    private mutating func newCall(_ purpose: CallPurpose) -> CallID {
        lastCall += 1
        let id = CallID(number: lastCall)
        calls[id] = purpose
        return id
    }

    mutating func call(
        _ purpose: CallPurpose, _ path: ObjectPath, _ interface: String, _ member: String, _ body: [DBusValue] = [],
        deadline: Duration
    ) -> CallID {
        let id = newCall(purpose)
        effects.append(
            .call(
                id, MethodCall(path: path, interface: interface, member: member, body: body, deadline: deadline)))
        return id
    }

    mutating func openChannel(_ purpose: CallPurpose, from local: L2CAPAddress, to peer: L2CAPAddress) -> CallID {
        let id = newCall(purpose)
        effects.append(.openChannel(id, from: local, to: peer))
        return id
    }

    mutating func readSignalStrength(_ operation: LinkState.Operation, of peer: L2CAPAddress, on adapter: UInt16) {
        effects.append(.readSignalStrength(newCall(.signalStrength(operation)), of: peer, on: adapter))
    }

    mutating func perform(_ action: ChannelPool.Action, on channel: ChannelID) {
        effects.append(.channel(channel, action))
    }

    mutating func perform(_ action: WriteSocket.Action, on socket: WriteSocketID) {
        effects.append(.socket(socket, action))
    }

    mutating func deliver(_ manager: HostLedger.Manager, _ event: CentralEvent) {
        guard managers[manager] != nil else { return }
        effects.append(.deliver(manager, event))
    }

    mutating func start(_ timer: CentralTimer, _ delay: Duration) {
        timers.insert(timer)
        effects.append(.startTimer(timer, delay))
    }

    mutating func stop(_ timer: CentralTimer) {
        if timers.remove(timer) != nil { effects.append(.stopTimer(timer)) }
    }

    mutating func tellPreserved(_ manager: HostLedger.Manager, _ state: PreservedCentral?) {
        // Before the app is told: what it knows is kept.
        effects.insert(.preserve(manager, state), at: 0)
    }

    /// Tells where a connection begins to need pairing, or none needs it any more.
    ///
    /// BlueZ pitfall: the kernel takes a link's capability when the link begins, so the agent comes before `Connect`.
    private mutating func notePairingNeed() {
        let isNeeded = !links.isEmpty || connects.active != nil
        guard isNeeded != mayNeedPairing else { return }
        mayNeedPairing = isNeeded
        effects.insert(.pairingNeedChanged(isNeeded), at: isNeeded ? 0 : effects.endIndex)
    }

    mutating func tellSecurityFailed(_ peer: PeerID) { effects.append(.securityFailed(peer)) }

    mutating func refresh() { effects.append(.refresh) }

    mutating func log(_ level: LogMessage.Level, _ text: String) {
        effects.append(.log(LogMessage(level: level, text: text)))
    }

    // MARK: Dispatch

    private mutating func replied(_ id: CallID, _ result: Result<[DBusValue], DBusError>) {
        // Calls that a lost daemon or adapter left behind have no purpose any more.
        guard let purpose = calls.removeValue(forKey: id) else { return }
        switch purpose {
        case .discovery: discoveryReplied(result.failure)
        case .connect(let peer): connectReplied(peer, result.failure)
        case .disconnect(let peer): disconnectReplied(peer, result.failure)
        case .operation(let peer): operationReplied(peer, id, result)
        case .resubscription(let peer, let path): resubscribed(peer, path, result.failure)
        case .signalStrength, .cleanup: break
        }
    }

    private mutating func fired(_ timer: CentralTimer) {
        switch timer {
        case .connectRetry(let peer):
            connects.pauseOver(peer)
            connectNext()
        case .connectTurn: preemptConnect()
        case .foreignLinkGrace(let peer): foreignLinkGraceOver(peer)
        case .discoveryRetry: discovery.pauseOver()
        case .resolution(let peer): resolutionTimedOut(peer)
        case .awaitingServices(let peer): servicesAwaited(peer)
        case .draining(let peer): drainTimedOut(peer)
        case .attributeRetry(let peer): runOperations(peer)
        case .linkLoss(let peer): linkLossUnconfirmed(peer)
        case .powerLoss(let peer): finishLinkDown(peer)
        case .serviceChanges(let peer): tellServiceChanges(peer)
        case .adapterReturn:
            watch.comebackOver()
            updateState()
        }
    }

    private mutating func handle(_ command: CentralCommand, from manager: HostLedger.Manager) {
        // Everything else belongs to a link, and there is none without power.
        guard state == .poweredOn else { return }
        switch command {
        case .startScan(let parameters): startScan(manager, parameters)
        case .stopScan: stopScan(manager)
        case .connect(let peer, let operation, let options): connect(manager, peer, operation, options)
        case .disconnect(let peer): disconnect(manager, peer)
        case .setConnectionEventFilter(let filter): managers[manager]?.connectionEvents = filter
        case .channel(let channel, let command): use(channel, command, by: manager)
        default: enqueue(command, from: manager)
        }
    }

    // MARK: Changes of the daemon's objects

    static func concerns(_ change: ObjectModel.Change) -> Bool { true }

    private mutating func apply(_ change: ObjectModel.Change, isSnapshot: Bool) {
        switch change {
        case .adapterAdded, .adapterRemoved: updateState()
        case .adapterChanged(let path, let changes): adapterChanged(path, changes)
        case .deviceAdded(let path): deviceAdded(path, isSnapshot: isSnapshot)
        case .deviceChanged(let path, let changes): deviceChanged(path, changes)
        case .deviceRemoved(let path, let device): deviceRemoved(path, device)
        case .disconnected(let path, let reason): noteReason(path, reason)
        case .serviceAdded(let path, let device): serviceAdded(path, of: device)
        case .serviceRemoved(let path, let device): serviceRemoved(path, of: device)
        case .attributeRemoved(let path, let device): attributeRemoved(path, of: device)
        case .mtuChanged(let device, let mtu): mtuChanged(of: device, mtu)
        case .valueChanged(let path, let device, let value): valueChanged(path, of: device, value)
        case .malformed(let path, let property): log(.warning, "\(path): \(property) makes no sense and is ignored")
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
#endif
