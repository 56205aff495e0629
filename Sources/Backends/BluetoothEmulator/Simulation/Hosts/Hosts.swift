import BluetoothBackend
import BluetoothSupport

/// The hosts of a world and their managers.
struct Hosts: Sendable, RandomAccessCollection, MutableCollection {
    private var hosts: [Host] = []
    var managers = SlotTable<Manager>()

    var startIndex: Int { 0 }
    var endIndex: Int { hosts.count }

    subscript(index: Int) -> Host {
        get { hosts[index] }
        _modify { yield &hosts[index] }
    }

    mutating func append(_ host: Host) { hosts.append(host) }

    /// Returns the host with a name or an identity address.
    func index(named name: String) -> Int? {
        firstIndex { $0.identity.name == name || $0.identity.address.description == name }
    }

    /// The permission of the host "default".
    var defaultAuthorization: AuthorizationStatus {
        index(named: "default").map { hosts[$0].adapter.authorization } ?? .allowed
    }

    /// Whether any host listens, so that the packets of all devices matter.
    var isAnyoneListening: Bool {
        contains { $0.adapter.isOn && (!$0.scanning.scanners.isEmpty || !$0.connecting.isEmpty) }
    }

    /// Returns those of the given peers that a host remembers.
    func knownPeers(_ ids: [PeerID], of host: Int) -> [PeerSummary] {
        ids.compactMap { id in
            hosts[host].peers[id].map { PeerSummary(id: id, name: $0.name, address: $0.address.description) }
        }
    }

    // MARK: Managers

    mutating func insert(_ manager: Manager, remembering limit: Int, _ context: inout WorldContext) -> Ref<Manager> {
        let ref = managers.insert(manager)
        context.receivers.insert(ref)
        if let host = manager.host {
            context.trace.learn(ref, manager.role, on: hosts[host].identity.name)
            hosts[host].managers.append(ref)
            hosts[host].peers.remember(atLeast: limit)
        }
        return ref
    }

    mutating func remove(_ ref: Ref<Manager>, _ context: inout WorldContext) {
        context.receivers.remove(ref)
        if let host = managers.remove(ref)?.host { hosts[host].managers.removeAll { $0 == ref } }
    }

    /// The managers of a host, in the order of their creation.
    func managers(of host: Int) -> some Sequence<SlotTable<Manager>.Entry> {
        managers.entries(of: hosts[host].managers)
    }

    /// Returns the host of a manager; nil if no host matches the requested name.
    func host(of ref: Ref<Manager>) -> Int? { managers[ref]?.host }

    /// Returns whether a manager stands for a host outside of the emulator.
    func isExternal(_ ref: Ref<Manager>) -> Bool { managers[ref]?.isExternal == true }

    /// Returns the state that a manager sees.
    func state(of manager: Manager) -> AdapterState {
        guard let host = manager.host, manager.role != .peripheral || hosts[host].canServe else { return .unsupported }
        return hosts[host].adapter.state
    }

    mutating func stopScan(_ ref: Ref<Manager>, on host: Int) {
        guard hosts[host].ledger.stopScan(ref.packed) else { return }
        hosts[host].scanning.remove(ref)
    }

    // MARK: Links of managers

    /// The number under which the ledger registers another app of the host; no manager has it.
    static var otherApp: Ref<Manager> { Ref(slot: .max, serial: 0) }

    /// Returns the manager of a lease; nil for a lease that no manager has.
    func manager(of lease: HostLedger.LinkLease) -> Ref<Manager>? {
        let ref = Ref<Manager>(packed: lease.manager)
        return ref.slot == .max ? nil : ref
    }

    /// Opens a link for the manager that leases it.
    mutating func reportConnected(
        _ lease: HostLedger.LinkLease, _ ref: Ref<Link>, _ link: Link, _ context: inout WorldContext
    ) {
        guard let manager = manager(of: lease), let id = lease.link else { return }
        // If other managers kept the link open, the manager is connected again at once; its earlier end must come
        // first.
        completeDisconnect(manager, link.peer, &context)
        let delay = context.configuration.writeReadinessDelay.nanoseconds
        let credits = delay > 0 ? 0 : context.configuration.transmitBuffer
        let parameters = open(id, ref, link, credits: credits, for: manager)
        if delay > 0 { context.queue.schedule(.becomeReadyToWrite(manager, id), at: context.now + delay) }
        context.emit(
            .connected(peer: link.peer, link: id, operation: lease.operation, parameters: parameters), to: manager)
    }

    /// Returns whether the manager of an operation still has its link.
    mutating func holdsLink(of operation: LinkOperation) -> Bool {
        managers[operation.manager]?.holds(operation.link) == true
    }

    /// Opens a manager's end of a link; returns the parameters for the app.
    mutating func open(
        _ id: LinkID, _ ref: Ref<Link>, _ link: Link, credits: Int, for manager: Ref<Manager>
    ) -> LinkParameters {
        managers[manager]?.open(id, Manager.OpenLink(link: ref, credits: credits))
        return LinkParameters(mtu: link.mtu, writeCredits: credits)
    }

    /// Grants write credits: the initial ones of a link, or those of commands that were sent.
    mutating func grantCredits(
        _ count: Int, to manager: Ref<Manager>, on link: LinkID, _ context: inout WorldContext
    ) {
        guard managers[manager]?.grantCredits(count, on: link) == true else { return }
        context.emit(.writeCredits(link: link, count: count), to: manager)
    }

    mutating func reportLocal(_ ref: Ref<Manager>, _ link: LinkID, _ epoch: UInt32, _ context: inout WorldContext) {
        guard let manager = managers[ref], let host = manager.host, hosts[host].adapter.epoch == epoch,
            let peer = manager.pendingPeer(of: link)
        else { return }
        completeDisconnect(ref, peer, &context)
    }

    /// Delivers the end that a manager requested, if it is not delivered yet.
    private mutating func completeDisconnect(_ ref: Ref<Manager>, _ peer: PeerID, _ context: inout WorldContext) {
        guard let link = managers[ref]?.pendingDisconnects.removeValue(forKey: peer) else { return }
        context.emit(.disconnected(link: link, reason: .local, at: context.date, isReconnecting: false), to: ref)
    }

    /// Reports the end of a link to the managers that lease it.
    mutating func reportDisconnected(_ link: Link, _ reason: DisconnectReason, _ context: inout WorldContext) {
        let isKnown = reason == .local || hosts[link.host].adapter.features.contains(.disconnectReason)
        for lease in hosts[link.host].ledger.linkDown(link.peer, isReconnecting: true) {
            guard let manager = manager(of: lease), let id = lease.link else { continue }
            managers[manager]?.close(id)
            context.emit(
                .disconnected(
                    link: id, reason: isKnown ? reason : .unknown, at: context.date,
                    isReconnecting: lease.options.autoReconnect, error: reason == .remote ? link.closingError : nil),
                to: manager)
        }
    }

    mutating func reportConnectFailed(
        _ peer: PeerID, on host: Int, _ error: BackendError, _ context: inout WorldContext
    ) {
        for lease in hosts[host].ledger.connectFailed(peer) {
            guard let manager = manager(of: lease) else { continue }
            context.emit(.connectFailed(peer: peer, operation: lease.operation, error: error), to: manager)
        }
    }

    func reportConnectionEvent(
        _ peer: PeerID, isConnected: Bool, on host: Int, _ database: AttributeDatabase?, _ context: inout WorldContext
    ) {
        for (ref, manager) in managers(of: host) {
            guard let filter = manager.connectionEventFilter,
                database?.offers(filter.services) == true || filter.peers.contains(peer)
            else { continue }
            context.emit(.connectionEvent(peer: peer, isConnected: isConnected), to: ref)
        }
    }

    // MARK: Events

    /// Sends an event to each central manager with an open link to a peer.
    func emit(toLeasesOf peer: PeerID, on host: Int, _ context: inout WorldContext, _ event: (LinkID) -> CentralEvent) {
        for lease in hosts[host].ledger.leases(of: peer) {
            guard let link = lease.link, managers.contains(Ref(packed: lease.manager)) else { continue }
            context.emit(event(link), to: Ref(packed: lease.manager))
        }
    }

    /// Sends an event to each central manager of a host.
    func emit(toCentralsOf host: Int, _ event: CentralEvent, _ context: inout WorldContext) {
        for (ref, manager) in managers(of: host) where manager.role == .central { context.emit(event, to: ref) }
    }

    mutating func reportName(
        _ peer: PeerID, _ name: String, _ source: NameSource, on host: Int, _ context: inout WorldContext
    ) {
        hosts[host].scanning.rename(peer, to: name)
        emit(toCentralsOf: host, .nameChanged(peer: peer, name: name, source: source), &context)
    }

    /// Reports a changed host to the taps.
    func reportChange(of host: Int, _ context: inout WorldContext) {
        if context.tapped.contains(.hosts) { context.report(.hostChanged(hosts[host].tapped(host))) }
    }
}

extension Host {
    func tapped(_ index: Int) -> TappedHost {
        TappedHost(
            index: index, name: identity.name, isAnonymous: identity.isAnonymous, identityAddress: identity.address,
            address: identity.airAddress, state: adapter.state, isPowered: adapter.isPowered,
            isPlugged: adapter.isPlugged, isResetting: adapter.isResetting, authorization: adapter.authorization,
            isExternal: identity.port != nil || openPort != nil, port: openPort)
    }
}
