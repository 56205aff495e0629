import BluetoothBackend

/// The services and the advertisement that a peripheral manager publishes.
struct ManagerPublication: Sendable {
    /// The services in the manager's definitions.
    var services: [ServiceDefinition] = []
    /// The attributes' numbers in the host's database, by the manager's own numbers.
    var attributes: [AttributeID: AttributeID] = [:]
    var advertisement: Advertisement?

    /// Adds a service that was published, with the numbers of all attributes.
    mutating func add(_ service: ServiceDefinition, _ published: [AttributeID: AttributeID]) {
        attributes = published
        services.append(service)
    }

    /// Keeps the attributes that are still published, and their services.
    mutating func keep(_ left: [AttributeID: AttributeID]) {
        attributes = left
        services.removeAll { left[$0.id] == nil }
    }
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

    /// Ends the waiting for a scan with a number; returns the manager's host if it waits for that scan.
    mutating func takePendingScan(_ number: UInt64) -> Int? {
        guard pendingScan == number else { return nil }
        pendingScan = nil
        return host
    }

    /// Handles the loss of the adapter's power.
    mutating func lostPower() {
        pendingScan = nil
        openLinks = []
        pendingDisconnects = [:]
    }

    /// Releases a link, whose end is delivered later.
    mutating func release(_ id: LinkID, to peer: PeerID) {
        close(id)
        pendingDisconnects[peer] = id
    }

    /// Returns the peer whose released link's end is not delivered yet.
    func pendingPeer(of link: LinkID) -> PeerID? { pendingDisconnects.first { $0.value == link }?.key }

    mutating func open(_ id: LinkID, _ link: OpenLink) { openLinks.append((id, link)) }

    mutating func close(_ id: LinkID) { if let position = position(of: id) { openLinks.remove(at: position) } }

    /// Closes the manager's end of a physical link.
    mutating func close(_ link: Ref<Link>) {
        if let position = openLinks.firstIndex(where: { $0.link.link == link }) { openLinks.remove(at: position) }
    }

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
