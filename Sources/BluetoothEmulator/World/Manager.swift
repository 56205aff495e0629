import BluetoothBackend

/// One manager of an app, as its host knows it.
struct Manager: Sendable {
    enum Role: Sendable {
        case central
        case peripheral
        case pairing
    }

    /// A manager's share of a physical link.
    struct Share: Sendable {
        let link: Ref<Link>
        /// How many write commands it may send.
        var credits: Int
    }

    let role: Role
    /// Its host's index; nil if it asked for a host that is not there.
    let host: Int?
    /// The scan that does not hear yet.
    var pendingScan: UInt64?
    /// The state that it was told last; nil before the first.
    var toldState: AdapterState?
    /// In the order of birth, which is that of their identifiers.
    private var shares: [(id: LinkID, share: Share)] = []
    /// The links that it gave up and was not told the end of.
    var pendingDisconnects: [PeerID: LinkID] = [:]
    var connectionEventFilter: ConnectionEventFilter?
    /// What it published, by its own numbers: the numbers in its host's database.
    var published: [AttributeID: AttributeID] = [:]
    /// What it published, as it said it.
    var services: [ServiceDefinition] = []
    /// What it advertises.
    var advertisement: Advertisement?
    /// Under which the host keeps its state for the next start.
    let restoreIdentifier: String?
    /// Whether delivery began.
    var isActive = false
    /// What an agent can show and ask.
    var capability = PairingCapability.noInputNoOutput

    init(role: Role, host: Int?, restoreIdentifier: String? = nil) {
        self.restoreIdentifier = restoreIdentifier
        self.role = role
        self.host = host
    }

    /// Where an open link's share is, nil if it is not open.
    private func position(of id: LinkID) -> Int? {
        var (low, high) = (0, shares.count)
        while low < high {
            let middle = (low + high) / 2
            if shares[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < shares.count && shares[low].id == id ? low : nil
    }

    /// The share that an open link is.
    ///
    /// In place, as it is asked for each operation.
    mutating func share(of id: LinkID) -> Share? { position(of: id).map { shares[$0].share } }

    /// Whether a link of this manager's is open.
    ///
    /// In place, as it is asked for each answer.
    mutating func holds(_ id: LinkID) -> Bool { position(of: id) != nil }

    mutating func open(_ id: LinkID, _ share: Share) { shares.append((id, share)) }

    mutating func close(_ id: LinkID) {
        if let position = position(of: id) { shares.remove(at: position) }
    }

    mutating func closeAll() {
        shares = []
        pendingDisconnects = [:]
    }

    /// The manager's identifier of a physical link.
    func id(of link: Ref<Link>) -> LinkID? { shares.first { $0.share.link == link }?.id }

    /// Spends a write credit.
    ///
    /// - Returns: Whether there was one; nil if the link is not open.
    mutating func spendCredit(on id: LinkID) -> Bool? {
        guard let position = position(of: id) else { return nil }
        guard shares[position].share.credits > 0 else { return false }
        shares[position].share.credits -= 1
        return true
    }

    /// Grants write credits, the first ones or those of commands that have left.
    ///
    /// - Returns: Whether the link is still open.
    mutating func grantCredits(_ count: Int, on id: LinkID) -> Bool {
        guard let position = position(of: id) else { return false }
        shares[position].share.credits += count
        return true
    }
}
