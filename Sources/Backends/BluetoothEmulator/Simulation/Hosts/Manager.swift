import BluetoothBackend

/// The services and the advertisement that a peripheral manager publishes.
struct ManagerPublication: Sendable {
    /// The services in the manager's definitions.
    var services: [ServiceDefinition] = []
    /// The attributes' numbers in the host's database, by the manager's own numbers.
    var attributes: [AttributeID: AttributeID] = [:]
    var advertisement: Advertisement?
}

/// One manager of an app, as its host knows it.
struct Manager: Sendable {
    enum Role: Sendable {
        case central
        case peripheral
        case pairing
    }

    struct OpenLink: Sendable {
        let link: Ref<Link>
        /// The number of write commands that the manager may send.
        var credits: Int
    }

    let role: Role
    /// The index of the manager's host; nil if no host matches the requested name.
    let host: Int?
    /// The scan that has started but receives no packets yet.
    var pendingScan: UInt64?
    /// The last state that was delivered; nil before the first.
    var reportedState: AdapterState?
    /// The open links, in the order of their identifiers.
    private var openLinks: [(id: LinkID, link: OpenLink)] = []
    /// The links that the manager has released but whose `disconnected` event is not delivered yet.
    var pendingDisconnects: [PeerID: LinkID] = [:]
    var connectionEventFilter: ConnectionEventFilter?
    var publication = ManagerPublication()
    /// The identifier under which the host preserves its state for the app's next start.
    let restoreIdentifier: String?
    /// Whether events are delivered to the manager.
    var isActive = false
    /// The capability of a pairing agent.
    var capability = PairingCapability.noInputNoOutput

    init(role: Role, host: Int?, restoreIdentifier: String? = nil) {
        self.restoreIdentifier = restoreIdentifier
        self.role = role
        self.host = host
    }

    private func position(of id: LinkID) -> Int? {
        var (low, high) = (0, openLinks.count)
        while low < high {
            let middle = (low + high) / 2
            if openLinks[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < openLinks.count && openLinks[low].id == id ? low : nil
    }

    /// Returns an open link; looks it up in place, because each operation needs it.
    mutating func openLink(of id: LinkID) -> OpenLink? { position(of: id).map { openLinks[$0].link } }

    /// Returns whether a link is open; looks it up in place, because each answer needs it.
    mutating func holds(_ id: LinkID) -> Bool { position(of: id) != nil }

    mutating func open(_ id: LinkID, _ link: OpenLink) { openLinks.append((id, link)) }

    mutating func close(_ id: LinkID) {
        if let position = position(of: id) { openLinks.remove(at: position) }
    }

    mutating func closeAll() {
        openLinks = []
        pendingDisconnects = [:]
    }

    /// The manager's identifier of a physical link.
    func id(of link: Ref<Link>) -> LinkID? { openLinks.first { $0.link.link == link }?.id }

    /// Spends a write credit.
    ///
    /// - Returns: Whether a credit was left; nil if the link is not open.
    mutating func spendCredit(on id: LinkID) -> Bool? {
        guard let position = position(of: id) else { return nil }
        guard openLinks[position].link.credits > 0 else { return false }
        openLinks[position].link.credits -= 1
        return true
    }

    /// Grants write credits: the initial ones, or those of commands that were sent.
    ///
    /// - Returns: Whether the link is still open.
    mutating func grantCredits(_ count: Int, on id: LinkID) -> Bool {
        guard let position = position(of: id) else { return false }
        openLinks[position].link.credits += count
        return true
    }
}
