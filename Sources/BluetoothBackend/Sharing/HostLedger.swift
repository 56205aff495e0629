/// What the managers of one adapter share: whose scan, who holds a link, who subscribes.
///
/// The ledger says when the radio must act and who hears of it. It is pure, has no radio and no clock, and serves
/// every backend. Managers are numbered by the backend; links are numbered here, one per (manager, connection).
public struct HostLedger: Sendable {
    /// A manager, as its backend numbers it.
    public typealias Manager = Int

    /// A manager's share of a physical link, or its wish for one.
    public struct Share: Hashable, Sendable {
        /// Whose.
        public var manager: Manager
        /// The connect that led to it.
        public var operation: OperationID
        /// How to connect.
        public var options: ConnectOptions
        /// The manager's name for the link; nil while it is a wish.
        public var link: LinkID?
    }

    private struct Peer {
        var isUp = false
        /// The last holder gave the link up; it is going down.
        var isClosing = false
        var shares: [Share] = []
        var subscribers: [AttributeID: Set<Manager>] = [:]

        mutating func unsubscribe(_ manager: Manager) {
            for attribute in subscribers.keys { subscribers[attribute]?.remove(manager) }
        }
    }

    private var peers: [PeerID: Peer] = [:]
    private var links: [LinkID: PeerID] = [:]
    private var scans: [Manager: ScanParameters] = [:]
    private var lastLink = LinkID(rawValue: 0)

    /// A ledger without managers.
    public init() {}

    // MARK: Scanning

    /// The scans of all managers, by manager.
    public var scanners: [(manager: Manager, parameters: ScanParameters)] {
        scans.keys.sorted().map { ($0, scans[$0] ?? ScanParameters()) }
    }

    /// What the radio must look for to serve all scans; nil where there is none.
    public var mergedScan: ScanParameters? {
        guard !scans.isEmpty else { return nil }
        let all = scanners.map(\.parameters)
        let isOpen = all.contains { ($0.services ?? []).isEmpty && $0.solicitedServices.isEmpty }
        // A filter of service UUIDs would hide those that only solicit.
        let isFiltered = !isOpen && all.allSatisfy { $0.solicitedServices.isEmpty }
        return ScanParameters(
            services: isFiltered ? Set(all.flatMap { $0.services ?? [] }).sorted() : nil,
            allowDuplicates: all.contains(where: \.allowDuplicates))
    }

    /// Notes a manager's scan, in place of its earlier one.
    ///
    /// The radio's new duty is ``mergedScan``.
    public mutating func startScan(_ manager: Manager, _ parameters: ScanParameters) {
        scans[manager] = parameters
    }

    /// Notes the end of a manager's scan.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public mutating func stopScan(_ manager: Manager) -> Bool {
        scans.removeValue(forKey: manager) != nil
    }

    // MARK: Links

    /// What a connect leads to.
    public enum ConnectOutcome: Hashable, Sendable {
        /// The radio must connect.
        case dial
        /// The radio is connecting already, or the link is still going down: see ``linkDown(_:isReconnecting:)``.
        case wait
        /// The link is up: `connected` with this share can be told at once.
        case linked(Share)
    }

    /// Notes that a manager wants a link.
    ///
    /// A second wish replaces the first; a manager that holds the link gets a new share of it, without the
    /// subscriptions of the old one.
    public mutating func connect(
        _ manager: Manager, to peer: PeerID, operation: OperationID, options: ConnectOptions
    ) -> ConnectOutcome {
        var entry = peers[peer] ?? Peer()
        defer { peers[peer] = entry }
        let mustWait = !entry.shares.isEmpty || entry.isClosing
        let isLinked = entry.isUp && !entry.isClosing
        if let old = entry.shares.firstIndex(where: { $0.manager == manager }) {
            if let link = entry.shares.remove(at: old).link { links[link] = nil }
            entry.unsubscribe(manager)
        }
        var share = Share(manager: manager, operation: operation, options: options, link: nil)
        if isLinked { share.link = newLink(to: peer) }
        entry.shares.append(share)
        if isLinked { return .linked(share) }
        return mustWait ? .wait : .dial
    }

    /// Notes that the physical link is up, and who hears of it: those whose wish it fulfils.
    ///
    /// None, where the link was up already, or where nobody wants it any more (``shares(of:)`` is empty).
    public mutating func linkUp(_ peer: PeerID) -> [Share] {
        var entry = peers[peer] ?? Peer()
        entry.isUp = true
        entry.isClosing = false
        let fulfilled = entry.shares.indices.filter { entry.shares[$0].link == nil }
        for index in fulfilled { entry.shares[index].link = newLink(to: peer) }
        peers[peer] = entry
        return fulfilled.map { entry.shares[$0] }
    }

    /// Notes that a connect is over without a link, and who hears of it.
    public mutating func connectFailed(_ peer: PeerID) -> [Share] {
        guard let entry = peers[peer], !entry.isUp else { return [] }
        peers[peer] = nil
        return entry.shares
    }

    /// Notes that the physical link is down.
    ///
    /// Wishes that came while it was closing, or that want it back, are left in ``shares(of:)``: where there are any,
    /// the radio must dial.
    ///
    /// - Parameters:
    ///   - peer: The peer that the link was to.
    ///   - isReconnecting: Keeps the wishes of those that want their link back.
    /// - Returns: Each share that ended, with its link.
    public mutating func linkDown(_ peer: PeerID, isReconnecting: Bool) -> [Share] {
        guard let entry = peers[peer] else { return [] }
        let ended = entry.shares.filter { $0.link != nil }
        for share in ended { if let link = share.link { links[link] = nil } }
        var rest = entry.shares.filter { $0.link == nil }
        if isReconnecting {
            rest += ended.filter(\.options.autoReconnect).map {
                Share(manager: $0.manager, operation: $0.operation, options: $0.options, link: nil)
            }
        }
        peers[peer] = rest.isEmpty ? nil : Peer(shares: rest)
        return ended
    }

    /// What giving up a share leads to.
    public enum DisconnectOutcome: Hashable, Sendable {
        /// There was neither a wish nor a link.
        case nothing
        /// A wish is withdrawn; with `radioMustAct`, nobody else has it.
        case withdrawn(radioMustAct: Bool)
        /// The manager's link is over: `disconnected(local)`. With `radioMustAct`, nobody else holds it.
        case closed(LinkID, radioMustAct: Bool)
    }

    /// Notes that a manager gives up its wish or its share of a link.
    ///
    /// Where `radioMustAct`, the physical link stays up in the ledger until ``linkDown(_:isReconnecting:)``.
    public mutating func disconnect(_ manager: Manager, from peer: PeerID) -> DisconnectOutcome {
        guard var entry = peers[peer], let index = entry.shares.firstIndex(where: { $0.manager == manager })
        else { return .nothing }
        let share = entry.shares.remove(at: index)
        entry.unsubscribe(manager)
        let isLast = entry.shares.isEmpty
        // A link that is going down stays so, whoever wished for the next one.
        if isLast && entry.isUp { entry.isClosing = true }
        peers[peer] = isLast && !entry.isUp ? nil : entry
        guard let link = share.link else { return .withdrawn(radioMustAct: isLast) }
        links[link] = nil
        return .closed(link, radioMustAct: isLast)
    }

    /// The peer of an open link of this manager's, nil if the link is dead.
    public func peer(of link: LinkID) -> PeerID? { links[link] }

    /// Whether the physical link is up, or still going down.
    public func isUp(_ peer: PeerID) -> Bool { peers[peer]?.isUp == true }

    /// The shares of a peer's link and the wishes for it, in the order of asking.
    public func shares(of peer: PeerID) -> [Share] { peers[peer]?.shares ?? [] }

    /// The peers that somebody holds or wants, in the order of their identifiers.
    public var wantedPeers: [PeerID] {
        peers.filter { !$0.value.shares.isEmpty }.keys.sorted { $0.description < $1.description }
    }

    private mutating func newLink(to peer: PeerID) -> LinkID {
        lastLink = lastLink.next
        links[lastLink] = peer
        return lastLink
    }

    // MARK: Subscriptions

    /// Notes a manager's subscription, or its end; nothing happens where the manager holds no link.
    ///
    /// - Returns: Whether the radio must act: the first subscriber came, or the last one left.
    public mutating func setSubscribed(
        _ manager: Manager, to attribute: AttributeID, of peer: PeerID, _ isSubscribed: Bool
    ) -> Bool {
        guard peers[peer]?.shares.contains(where: { $0.manager == manager && $0.link != nil }) == true
        else { return false }
        var managers = peers[peer]?.subscribers[attribute] ?? []
        let wasEmpty = managers.isEmpty
        if isSubscribed { managers.insert(manager) } else { managers.remove(manager) }
        peers[peer]?.subscribers[attribute] = managers.isEmpty ? nil : managers
        return wasEmpty != managers.isEmpty
    }

    /// The links on which a notification of this attribute is told, in the order of their birth.
    public func subscribers(of attribute: AttributeID, at peer: PeerID) -> [(manager: Manager, link: LinkID)] {
        guard let entry = peers[peer], let managers = entry.subscribers[attribute] else { return [] }
        return entry.shares.compactMap { share in
            guard managers.contains(share.manager), let link = share.link else { return nil }
            return (share.manager, link)
        }
    }

    // MARK: Managers and power

    /// Forgets a manager.
    ///
    /// - Returns: The peers that nobody else wants now: the radio must drop or stop dialling them.
    public mutating func remove(_ manager: Manager) -> [PeerID] {
        scans[manager] = nil
        return wantedPeers.filter { peer in
            switch disconnect(manager, from: peer) {
            case .closed(_, radioMustAct: true), .withdrawn(radioMustAct: true): true
            default: false
            }
        }
    }

    /// Forgets all scans, links and wishes: power went.
    public mutating func removeAll() {
        peers = [:]
        links = [:]
        scans = [:]
    }
}
