import BluetoothBackend

/// The hosts of a world and their managers.
struct Hosts: Sendable, RandomAccessCollection, MutableCollection {
    private var hosts: [Host] = []
    var managers = SlotTable<Manager>()

    var startIndex: Int { 0 }
    var endIndex: Int { hosts.count }

    subscript(index: Int) -> Host {
        @inline(__always) _read { yield hosts[index] }
        @inline(__always) _modify { yield &hosts[index] }
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

    mutating func remove(_ ref: Ref<Manager>, _ context: inout WorldContext) -> Manager? {
        context.receivers.remove(ref)
        guard let manager = managers.remove(ref) else { return nil }
        if let host = manager.host { hosts[host].managers.removeAll { $0 == ref } }
        return manager
    }

    /// Returns the state that a manager sees.
    func state(of manager: Manager) -> AdapterState {
        guard let host = manager.host, manager.role != .peripheral || hosts[host].canServe else { return .unsupported }
        return hosts[host].adapter.state
    }

    // MARK: Events

    /// Sends an event to each central manager with an open link to a peer.
    func emit(
        toLeasesOf peer: PeerID, on host: Int, _ context: inout WorldContext, _ event: (LinkID) -> CentralEvent
    ) {
        for lease in hosts[host].ledger.leases(of: peer) {
            guard let link = lease.link, managers.contains(Ref(packed: lease.manager)) else { continue }
            context.emit(event(link), to: Ref(packed: lease.manager))
        }
    }

    /// Sends an event to each central manager of a host.
    func emit(toCentralsOf host: Int, _ event: CentralEvent, _ context: inout WorldContext) {
        for manager in hosts[host].managers where managers[manager]?.role == .central {
            context.emit(event, to: manager)
        }
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
            isPlugged: adapter.isPlugged, isResetting: adapter.isResetting, authorization: adapter.authorization)
    }
}
