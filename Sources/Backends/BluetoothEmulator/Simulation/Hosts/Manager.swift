import BluetoothBackend

/// The services that a peripheral manager publishes.
struct ManagerPublication: Sendable {
    /// The services in the manager's definitions.
    var services: [ServiceDefinition] = []
    /// The attributes' numbers in the host's database, by the manager's own numbers.
    var attributes: [AttributeID: AttributeID] = [:]

    /// Publishes a service of a manager on a device.
    ///
    /// - Returns: The service on the device; nil if the device was removed.
    mutating func add(
        _ service: ServiceDefinition, of manager: Ref<Manager>, at ref: Ref<Device>, _ air: inout Air
    ) throws(BackendError) -> ServiceRecord? {
        let record = try air.devices[ref]?.server.publish(service, by: manager, &attributes)
        services.append(service)
        return record
    }

    /// Keeps the attributes that a database still has, and their services.
    mutating func keep(in database: AttributeDatabase) {
        attributes = attributes.filter { database[$0.value] != nil }
        services.removeAll { attributes[$0.id] == nil }
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
    /// Whether the manager stands for a host outside of the emulator, which pairs by itself.
    let isExternal: Bool
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

    init(role: Role, host: Int?, isExternal: Bool = false, restoreIdentifier: String? = nil) {
        self.isExternal = isExternal
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

    /// Returns whether a link is open; looks it up in place, because each answer needs it.
    mutating func holds(_ id: LinkID) -> Bool { position(of: id) != nil }

    /// Handles the loss of the adapter's power.
    mutating func lostPower() {
        openLinks = []
        pendingDisconnects = [:]
    }

    /// Releases a link, whose end is delivered later.
    mutating func release(_ id: LinkID, to peer: PeerID) {
        close(id)
        pendingDisconnects[peer] = id
    }

    /// Returns the physical link of an open link; nil if it ended.
    func link(_ id: LinkID) -> Ref<Link>? { position(of: id).map { openLinks[$0].link.link } }

    /// Returns the peer whose released link's end is not delivered yet.
    func pendingPeer(of link: LinkID) -> PeerID? { pendingDisconnects.first { $0.value == link }?.key }

    mutating func open(_ id: LinkID, _ link: OpenLink) { openLinks.append((id, link)) }

    mutating func close(_ id: LinkID) { if let position = position(of: id) { openLinks.remove(at: position) } }

    /// Closes the manager's end of a physical link.
    mutating func close(_ link: Ref<Link>) {
        if let position = openLinks.firstIndex(where: { $0.link.link == link }) { openLinks.remove(at: position) }
    }

    /// Accepts an operation on an open link, and spends the write credit that it needs; looks the link up in place,
    /// because each operation needs it.
    ///
    /// - Returns: The physical link, and whether it accepts the operation; nil if the link is not open.
    mutating func accept(_ kind: LinkOperation.Kind, on id: LinkID) -> (link: Ref<Link>, isAccepted: Bool)? {
        guard let position = position(of: id) else { return nil }
        let isAccepted = !kind.isWriteCommand || openLinks[position].link.credits > 0
        if kind.isWriteCommand, isAccepted { openLinks[position].link.credits -= 1 }
        return (openLinks[position].link.link, isAccepted)
    }

    /// Grants write credits.
    ///
    /// - Returns: Whether the link is still open.
    mutating func grantCredits(_ count: Int, on id: LinkID) -> Bool {
        guard let position = position(of: id) else { return false }
        openLinks[position].link.credits += count
        return true
    }
}
