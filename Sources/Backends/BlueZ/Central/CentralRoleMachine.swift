#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// The central role on one adapter, for all of this process's managers.
///
/// Pure: its inputs are commands, signals, replies and timers; its outputs are calls, events and timers. It uses no
/// bus, no clock, no lock and no thread, so a test can create every situation.
///
/// It scans and connects; a ``CentralLink`` handles what belongs to one link.
struct CentralRoleMachine: AdapterRoleMachine {
    typealias Input = CentralRoleInput
    typealias Manager = CentralContext.Manager
    typealias CallPurpose = CentralContext.CallPurpose

    /// The state that the links use, too.
    var context: CentralContext
    var preservations: [HostLedger.Manager: Preservation] = [:]
    var discovery = DiscoverySession()
    var connects = ConnectScheduler()
    var links: [PeerID: CentralLink] = [:]

    init(
        selector: AdapterSelector, objects: ObjectModel, timings: BlueZTimings = BlueZTimings(),
        notificationMethod: BlueZConfiguration.NotificationMethod = .startNotify
    ) {
        let watch = AdapterWatch(selector, timings) { $0.supportsCentral }
        context = CentralContext(objects: objects, notificationMethod: notificationMethod, watch: watch)
    }

    /// Processes one input.
    ///
    /// - Parameter date: The time of the input, for events that contain one.
    /// - Returns: The effects to perform, in this order.
    mutating func handle(_ input: CentralRoleInput, at date: Date) -> [CentralRoleEffect] {
        context.date = date
        switch input {
        case .daemon(.phase(let phase)): daemonChanged(phase)
        case .daemon(.changed(let changes)):
            for change in changes { apply(change, isSnapshot: false) }
            // Values are the most frequent input, and affect nothing that follows.
            if changes.allSatisfy(\.isValue) { return outputs.removeEffects() }
        case .daemon(.snapshot(let changes)):
            updateState()
            for change in changes { apply(change, isSnapshot: true) }
            snapshotTaken()
        case .reply(let call, let result): replied(call, result)
        case .channelReply(let call, let result): channelReplied(call, result)
        case .signalStrength(let call, let result):
            if let peer = call.peer { update(peer) { $0.signalStrengthReplied(call, result, &$1) } }
        case .channelEnded(let channel): channelEnded(channel)
        case .socket(let socket, let event): update(socket.peer) { $0.handleWriteSocket(socket, event, &$1) }
        case .notificationSocket(let socket, let event):
            update(socket.peer) { $0.handleNotificationSocket(socket, event, &$1) }
        case .pairingRefused(let peer): update(peer) { $0.pairingRefused(&$1) }
        case .timer(let key): if endTimer(key) { fired(key) }
        case .restoring(let manager, let left): adopt(left, for: manager)
        case .activated(let manager): activate(manager)
        case .command(let manager, let command): if managers[manager] != nil { handle(command, from: manager) }
        case .invalidated(let manager): invalidate(manager)
        }
        runDiscovery()
        preserve()
        pairingNeedChanged(to: !links.isEmpty || connects.hasInFlight)
        return outputs.removeEffects()
    }

    private mutating func snapshotTaken() {
        // A link that is not among the objects does not exist.
        connects.unconfirmed = []
        for peer in links.keys { update(peer) { $0.snapshotTaken(&$1) } }
    }

    // MARK: Dispatch

    private mutating func replied(_ id: CallID, _ result: Result<MethodReply, DBusError>) {
        if let peer = id.peer { return update(peer) { $0.replied(id, result, &$1) } }
        switch purpose(of: id) {
        case .discovery: discoveryReplied(result.failure)
        case .connect(let peer): connectReplied(peer, result.failure)
        case .disconnect(let peer): update(peer) { $0.disconnectReplied(result.failure, &$1) }
        case .resubscription(let peer, let path, let method):
            update(peer) { $0.resubscribed(path, method, result, &$1) }
        case .cleanup, nil: break
        }
    }

    private mutating func fired(_ timer: CentralTimer) {
        switch timer {
        case .connectRetry(let peer):
            connects.pauseOver(peer)
            connectNext()
        case .foreignLinkGrace(let peer): foreignLinkGraceOver(peer)
        case .discoveryRetry: discovery.pauseOver()
        case .link(let peer, let timer): update(peer) { $0.fired(timer, &$1) }
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
        case .disconnected(let path, let reason): update(at: path) { link, _ in link.noteReason(reason) }
        case .serviceAdded(let path, let device): update(at: device) { $0.serviceAdded(path, &$1) }
        case .serviceRemoved(let path, let device): update(at: device) { $0.serviceRemoved(path, &$1) }
        case .attributeRemoved(let path, let device): update(at: device) { $0.attributeRemoved(path, &$1) }
        case .mtuChanged(let device, let mtu): update(at: device) { $0.mtuChanged(to: Int(mtu), &$1) }
        case .valueChanged(let path, let device, let value): update(at: device) { $0.valueChanged(path, value, &$1) }
        case .malformed(let path, let property): log(.warning, "\(path): \(property) makes no sense and is ignored")
        }
    }
}

// MARK: - Parts of the context

extension CentralRoleMachine {
    var objects: ObjectModel { context.objects }

    var timings: BlueZTimings { context.timings }

    var watch: AdapterWatch {
        _read { yield context.watch }
        _modify { yield &context.watch }
    }

    var managers: [HostLedger.Manager: Manager] {
        _read { yield context.managers }
        _modify { yield &context.managers }
    }

    var channels: [ChannelID: OpenChannel<PeerID>] {
        _read { yield context.channels }
        _modify { yield &context.channels }
    }

    var outputs: RoleOutputs<CentralRoleEffect, CallPurpose> {
        _read { yield context.outputs }
        _modify { yield &context.outputs }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
#endif
