/// The scans, links and subscriptions that the managers of one adapter share.
///
/// The ledger decides when the backend must act, and which managers receive an event. It is a pure value without a clock,
/// and serves every backend. The backend numbers the managers; the ledger numbers the links, one per manager and
/// connection.
package struct HostLedger: Sendable {
    /// A manager, by the number that its backend gave it.
    package typealias Manager = Int

    /// A manager's use of a physical link, or its pending connect.
    package struct LinkLease: Hashable, Sendable {
        package var manager: Manager
        /// The connect that the lease answers.
        package var operation: OperationID
        /// The options of that connect.
        package var options: ConnectOptions
        /// The manager's identifier of the link; nil while the connect is pending.
        package var link: LinkID?
    }

    private struct Peer {
        var isUp = false
        /// Whether the last lease has ended and the link is going down.
        var isClosing = false
        var leases: [LinkLease] = []
        var subscribers: [AttributeID: Set<Manager>] = [:]

        mutating func unsubscribe(_ manager: Manager) {
            for attribute in subscribers.keys { subscribers[attribute]?.remove(manager) }
        }
    }

    private var peers: [PeerID: Peer] = [:]
    private var links: [LinkID: PeerID] = [:]
    private var scans: [Manager: ScanParameters] = [:]
    private var lastLink = LinkID(rawValue: 0)

    package init() {}

    // MARK: Scanning

    /// The scans of all managers, by manager.
    package var scanners: [(manager: Manager, parameters: ScanParameters)] {
        scans.keys.sorted().map { ($0, scans[$0] ?? ScanParameters()) }
    }

    /// The scan that serves all managers' scans; nil if no manager scans.
    package var mergedScan: ScanParameters? {
        guard !scans.isEmpty else { return nil }
        let all = scanners.map(\.parameters)
        let isOpen = all.contains { ($0.services ?? []).isEmpty && $0.solicitedServices.isEmpty }
        // A filter of service UUIDs would hide peripherals that only solicit services.
        let isFiltered = !isOpen && all.allSatisfy { $0.solicitedServices.isEmpty }
        return ScanParameters(
            services: isFiltered ? Set(all.flatMap { $0.services ?? [] }).sorted() : nil,
            allowDuplicates: all.contains(where: \.allowDuplicates))
    }

    /// Records a manager's scan, which replaces its earlier one.
    ///
    /// The backend then scans for ``mergedScan``.
    package mutating func startScan(_ manager: Manager, _ parameters: ScanParameters) {
        scans[manager] = parameters
    }

    /// Records the end of a manager's scan.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package mutating func stopScan(_ manager: Manager) -> Bool {
        scans.removeValue(forKey: manager) != nil
    }

    // MARK: Links

    package enum ConnectOutcome: Hashable, Sendable {
        /// The backend must connect.
        case connect
        /// The backend is connecting already, or the link is still going down; see ``linkDown(_:isReconnecting:)``.
        case wait
        /// The link is up; the backend delivers `connected` with this lease immediately.
        case linked(LinkLease)
    }

    /// Records a manager's connect.
    ///
    /// A second connect replaces the first. A manager that holds the link gets a new lease, without the subscriptions of
    /// the old one.
    package mutating func connect(
        _ manager: Manager, to peer: PeerID, operation: OperationID, options: ConnectOptions
    ) -> ConnectOutcome {
        var entry = peers[peer] ?? Peer()
        defer { peers[peer] = entry }
        let mustWait = !entry.leases.isEmpty || entry.isClosing
        let isLinked = entry.isUp && !entry.isClosing
        if let old = entry.leases.firstIndex(where: { $0.manager == manager }) {
            if let link = entry.leases.remove(at: old).link { links[link] = nil }
            entry.unsubscribe(manager)
        }
        var lease = LinkLease(manager: manager, operation: operation, options: options, link: nil)
        if isLinked { lease.link = newLink(to: peer) }
        entry.leases.append(lease)
        if isLinked { return .linked(lease) }
        return mustWait ? .wait : .connect
    }

    /// Records that the physical link is up.
    ///
    /// - Returns: The leases that it answers: none if the link was up already, or if no manager wants it
    ///   (``leases(of:)`` is empty).
    package mutating func linkUp(_ peer: PeerID) -> [LinkLease] {
        var entry = peers[peer] ?? Peer()
        entry.isUp = true
        entry.isClosing = false
        let fulfilled = entry.leases.indices.filter { entry.leases[$0].link == nil }
        for index in fulfilled { entry.leases[index].link = newLink(to: peer) }
        peers[peer] = entry
        return fulfilled.map { entry.leases[$0] }
    }

    /// Records that a connect failed.
    ///
    /// - Returns: The pending connects that end with it.
    package mutating func connectFailed(_ peer: PeerID) -> [LinkLease] {
        guard let entry = peers[peer], !entry.isUp else { return [] }
        peers[peer] = nil
        return entry.leases
    }

    /// Records that the physical link is down.
    ///
    /// Connects that arrived while it was closing, and those that reconnect, remain in ``leases(of:)``. If any remain,
    /// the backend must connect again.
    ///
    /// - Parameters:
    ///   - peer: The peer of the link.
    ///   - isReconnecting: Whether leases with `autoReconnect` become pending connects again.
    /// - Returns: The leases that ended, with their links.
    package mutating func linkDown(_ peer: PeerID, isReconnecting: Bool) -> [LinkLease] {
        guard let entry = peers[peer] else { return [] }
        let ended = entry.leases.filter { $0.link != nil }
        for lease in ended { if let link = lease.link { links[link] = nil } }
        var rest = entry.leases.filter { $0.link == nil }
        if isReconnecting {
            rest += ended.filter(\.options.autoReconnect).map {
                LinkLease(manager: $0.manager, operation: $0.operation, options: $0.options, link: nil)
            }
        }
        peers[peer] = rest.isEmpty ? nil : Peer(leases: rest)
        return ended
    }

    package enum DisconnectOutcome: Hashable, Sendable {
        /// The manager had neither a pending connect nor a link.
        case nothing
        /// The pending connect is withdrawn; `isLast` if no other manager wants the link.
        case withdrawn(isLast: Bool)
        /// The manager's link has ended, `disconnected(local)`; `isLast` if no other manager holds it.
        case closed(LinkID, isLast: Bool)
    }

    /// Records that a manager withdraws its pending connect, or releases its link.
    ///
    /// After the last lease has ended, the physical link stays up in the ledger until ``linkDown(_:isReconnecting:)``.
    package mutating func disconnect(_ manager: Manager, from peer: PeerID) -> DisconnectOutcome {
        guard var entry = peers[peer], let index = entry.leases.firstIndex(where: { $0.manager == manager })
        else { return .nothing }
        let lease = entry.leases.remove(at: index)
        entry.unsubscribe(manager)
        let isLast = entry.leases.isEmpty
        // A link that is going down continues to do so, even if another connect is pending.
        if isLast && entry.isUp { entry.isClosing = true }
        peers[peer] = isLast && !entry.isUp ? nil : entry
        guard let link = lease.link else { return .withdrawn(isLast: isLast) }
        links[link] = nil
        return .closed(link, isLast: isLast)
    }

    /// Returns the peer of an open link; nil if the link has ended.
    package func peer(of link: LinkID) -> PeerID? { links[link] }

    /// Whether the physical link is up, or still going down.
    package func isUp(_ peer: PeerID) -> Bool { peers[peer]?.isUp == true }

    /// Returns the leases of a peer's link and the pending connects to it, in the order of the connects.
    package func leases(of peer: PeerID) -> [LinkLease] { peers[peer]?.leases ?? [] }

    /// The peers that a manager holds or wants, in the order of their identifiers.
    package var wantedPeers: [PeerID] {
        peers.filter { !$0.value.leases.isEmpty }.keys.sorted { $0.description < $1.description }
    }

    private mutating func newLink(to peer: PeerID) -> LinkID {
        lastLink = lastLink.next
        links[lastLink] = peer
        return lastLink
    }

    // MARK: Subscriptions

    /// Records a manager's subscription or its end; does nothing if the manager holds no link.
    ///
    /// - Returns: Whether the backend must act, since this is the first subscriber, or was the last one.
    package mutating func setSubscribed(
        _ manager: Manager, to attribute: AttributeID, of peer: PeerID, _ isSubscribed: Bool
    ) -> Bool {
        guard peers[peer]?.leases.contains(where: { $0.manager == manager && $0.link != nil }) == true
        else { return false }
        var managers = peers[peer]?.subscribers[attribute] ?? []
        let wasEmpty = managers.isEmpty
        if isSubscribed { managers.insert(manager) } else { managers.remove(manager) }
        peers[peer]?.subscribers[attribute] = managers.isEmpty ? nil : managers
        return wasEmpty != managers.isEmpty
    }

    /// Returns the links that receive a notification of this attribute, in the order of the connects.
    package func subscribers(of attribute: AttributeID, at peer: PeerID) -> [(manager: Manager, link: LinkID)] {
        // In place, because a dictionary copies a whole entry to read a part.
        guard let index = peers.index(forKey: peer), let managers = peers.values[index].subscribers[attribute] else {
            return []
        }
        return peers.values[index].leases.compactMap { lease in
            guard managers.contains(lease.manager), let link = lease.link else { return nil }
            return (lease.manager, link)
        }
    }

    // MARK: Managers and power

    /// Removes a manager.
    ///
    /// - Returns: The peers that no other manager wants; the backend disconnects them or cancels the connect.
    package mutating func remove(_ manager: Manager) -> [PeerID] {
        scans[manager] = nil
        return wantedPeers.filter { peer in
            switch disconnect(manager, from: peer) {
            case .closed(_, isLast: true), .withdrawn(isLast: true): true
            default: false
            }
        }
    }

    /// Removes all scans, links and pending connects, because the adapter was switched off for instance.
    package mutating func removeAll() {
        peers = [:]
        links = [:]
        scans = [:]
    }
}
