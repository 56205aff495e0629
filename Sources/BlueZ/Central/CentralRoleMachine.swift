#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// The central role on one adapter, for all of this process's managers.
///
/// Pure: its inputs are commands, signals, replies and timers; its outputs are calls, events and timers. It uses no
/// bus, no clock, no lock and no thread, so a test can create every situation.
struct CentralRoleMachine: AdapterRoleMachine {
    /// An activated manager.
    struct Manager: AdapterRoleManager {
        var state: AdapterState?
        /// The filter of its scan, which remembers the reports that the manager has received.
        var filter: ScanReportFilter?
        var connectionEvents: ConnectionEventFilter?
    }

    /// The purpose of a call.
    enum CallPurpose: Sendable {
        case discovery
        case connect(PeerID)
        case disconnect(PeerID)
        case resubscription(PeerID, ObjectPath, BlueZConfiguration.NotificationMethod)
        /// A call whose outcome has no effect.
        case cleanup
    }

    let objects: ObjectModel
    let notificationMethod: BlueZConfiguration.NotificationMethod
    var watch: AdapterWatch
    var managers: [HostLedger.Manager: Manager] = [:]
    var ledger = HostLedger() {
        didSet { preservation.needsUpdate = true }
    }
    var preservation = Preservation()
    var discovery = DiscoverySession()
    var connects = ConnectScheduler()
    var links: [PeerID: CopyOnWrite<LinkState>] = [:]
    var channels: [ChannelID: OpenChannel<PeerID>] = [:]
    var outputs = RoleOutputs<CentralRoleEffect, CallPurpose>()
    private(set) var date = Date(timeIntervalSince1970: 0)

    var timings: BlueZTimings { watch.timings }

    init(
        selector: AdapterSelector, objects: ObjectModel, timings: BlueZTimings = BlueZTimings(),
        notificationMethod: BlueZConfiguration.NotificationMethod = .startNotify
    ) {
        self.objects = objects
        self.notificationMethod = notificationMethod
        watch = AdapterWatch(selector, timings) { $0.supportsCentral }
    }

    /// Processes one input.
    ///
    /// - Parameter date: The time of the input, for events that contain one.
    /// - Returns: The effects to perform, in this order.
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
        case .socket(let socket, let event): handleWriteSocket(socket, event)
        case .notificationSocket(let socket, let event): handleNotificationSocket(socket, event)
        case .pairingRefused(let peer): pairingRefused(peer)
        case .timer(let key): if endTimer(key) { fired(key) }
        case .restoring(let manager, let left): adopt(left, for: manager)
        case .activated(let manager): activate(manager)
        case .command(let manager, let command): if managers[manager] != nil { handle(command, from: manager) }
        case .invalidated(let manager): invalidate(manager)
        }
        runDiscovery()
        preserve()
        pairingNeedChanged(to: !links.isEmpty || connects.active != nil)
        return outputs.removeEffects()
    }

    // MARK: Effects

    /// Registers a new call for an operation of a link.
    mutating func newCall(for operation: LinkState.Operation, of peer: PeerID) -> CallID {
        let id = CallID(number: outputs.newNumber(), peer: peer)
        links[peer]?.inFlight[id] = operation
        return id
    }

    mutating func perform(_ action: WriteSocket.Action, on socket: LinkSocketID) {
        outputs.effects.append(.socket(socket, action))
    }

    mutating func perform(_ action: NotificationSockets.Action, onNotificationSocket socket: LinkSocketID) {
        outputs.effects.append(.notificationSocket(socket, action))
    }

    mutating func reportPreserved(_ manager: HostLedger.Manager, _ state: PreservedCentral?) {
        // Before the delivery to the app, so that everything the app knows is preserved.
        outputs.effects.insert(.preserve(manager, state), at: 0)
    }

    mutating func reportSecurityFailed(_ peer: PeerID) { outputs.effects.append(.securityFailed(peer)) }

    mutating func refresh() { outputs.effects.append(.refresh) }

    // MARK: Dispatch

    private mutating func replied(_ id: CallID, _ result: Result<[DBusValue], DBusError>) {
        if let peer = id.peer { return operationReplied(peer, id, result) }
        switch purpose(of: id) {
        case .discovery: discoveryReplied(result.failure)
        case .connect(let peer): connectReplied(peer, result.failure)
        case .disconnect(let peer): disconnectReplied(peer, result.failure)
        case .resubscription(let peer, let path, let method): resubscribed(peer, path, method, result)
        case .cleanup, nil: break
        }
    }

    private mutating func fired(_ timer: CentralTimer) {
        switch timer {
        case .connectRetry(let peer):
            connects.pauseOver(peer)
            connectNext()
        case .connectTimeSlice: preemptConnect()
        case .foreignLinkGrace(let peer): foreignLinkGraceOver(peer)
        case .discoveryRetry: discovery.pauseOver()
        case .resolution(let peer): resolutionTimedOut(peer)
        case .awaitingServices(let peer): servicesAwaited(peer)
        case .draining(let peer): drainTimedOut(peer)
        case .attributeRetry(let peer): runOperations(peer)
        case .linkLoss(let peer): linkLossUnconfirmed(peer)
        case .powerLoss(let peer): finishLinkDown(peer)
        case .serviceChanges(let peer): reportServiceChanges(peer)
        case .closedSockets(let peer): replaceClosedSockets(peer)
        case .adapterReturn: adapterReturnTimedOut()
        }
    }

    private mutating func handle(_ command: CentralCommand, from manager: HostLedger.Manager) {
        // Every other command belongs to a link, which cannot exist without power.
        guard state == .poweredOn else { return }
        switch command {
        case .startScan(let parameters): startScan(manager, parameters)
        case .stopScan: stopScan(manager)
        case .connect(let peer, let operation, let options): connect(manager, peer, operation, options)
        case .disconnect(let peer): releaseLink(manager, peer, isSilent: false)
        case .setConnectionEventFilter(let filter): managers[manager]?.connectionEvents = filter
        case .channel(let channel, let command): use(channel, command, by: manager)
        default: enqueue(command, from: manager)
        }
    }

    // MARK: Changes of objects

    static func concerns(_ change: ObjectModel.Change) -> Bool { true }

    private mutating func apply(_ change: ObjectModel.Change, isSnapshot: Bool) {
        switch change {
        case .adapterAdded, .adapterRemoved: updateState()
        case .adapterChanged(let path, let changes): adapterChanged(path, changes)
        case .deviceAdded(let path): deviceAdded(path, isSnapshot: isSnapshot)
        case .deviceChanged(let path, let changes): deviceChanged(path, changes)
        case .deviceRemoved(let path, let device, let peer): if let peer { deviceRemoved(path, device, peer) }
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
