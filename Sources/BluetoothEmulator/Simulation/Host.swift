import BluetoothBackend

/// One host of the world: an adapter and what the managers on it share.
struct Host: Sendable {
    /// A manager that listens for an L2CAP channel.
    struct Listener: Sendable {
        let manager: Ref<Manager>
        let isEncryptionRequired: Bool
    }

    var identity: HostIdentity
    var adapter: HostAdapter
    /// The device that the host's peripheral managers are on the air; nil before the first.
    var server: Ref<Device>?
    var managers: [Ref<Manager>] = []
    var ledger = HostLedger()
    var peers = KnownPeers(limit: RoleOptions.defaultRememberedPeers)
    /// By number of the channel.
    var listeners: [UInt16: Listener] = [:]
    var terminatedApps = TerminatedApps()
    var pairing = HostPairing()
    var links: [PeerID: Ref<Link>] = [:]
    /// The peers whose next connectable packet is answered.
    var connecting: Set<PeerID> = []
    var scanning = HostScanning()

    /// A host as described; anonymous if it was made for a peripheral manager that named none.
    init(_ description: HostDescription, isAnonymous: Bool = false) {
        identity = HostIdentity(description, isAnonymous: isAnonymous)
        adapter = HostAdapter(
            isPowered: description.isPowered, authorization: description.authorization,
            maximumMTU: description.maximumMTU)
    }

    var canServe: Bool { adapter.features.contains(.peripheralRole) }

    /// Whether managers that name no host get this one.
    var isUnnamedChoice: Bool { identity.isAnonymous || identity.name == "default" }
}

/// The adapter of a host: its power, its permission, its features.
struct HostAdapter: Sendable {
    var features = Set(BackendFeature.allCases)
    var isPlugged = true
    var isPowered: Bool
    var isResetting = false
    var authorization: AuthorizationStatus
    /// The state that a test set, in place of what it follows from.
    var shownState: AdapterState?
    /// The largest ATT MTU of its links; nil: that of the settings.
    var maximumMTU: Int?
    /// What the advertisements of peripheral managers carry besides their own content.
    var advertising = HostAdvertising()
    /// Whether ``state`` is `.poweredOn`, precomputed as each packet needs it.
    private(set) var isOn = false
    /// Grows when power is lost, so that what was under way is void.
    var epoch: UInt32 = 0

    init(isPowered: Bool, authorization: AuthorizationStatus, maximumMTU: Int?) {
        self.isPowered = isPowered
        self.authorization = authorization
        self.maximumMTU = maximumMTU
        isOn = state == .poweredOn
    }

    /// The state as managers see it.
    var state: AdapterState {
        if let shownState { return shownState }
        switch authorization {
        case .notDetermined: return .unknown
        case .denied, .restricted: return .unauthorized
        case .allowed: break
        }
        if isResetting { return .resetting }
        if !isPlugged { return .unsupported }
        return isPowered ? .poweredOn : .poweredOff
    }

    /// Changes what the state follows from.
    mutating func change(_ body: (inout HostAdapter) -> Void) {
        body(&self)
        isOn = state == .poweredOn
    }
}

/// A peer that a host saw or connected to.
struct KnownPeer: Sendable {
    var address: DeviceAddress
    var advertisedName: String?
    /// The GAP Device Name, once it was read.
    var deviceName: String?

    var name: String? { deviceName ?? advertisedName }
}

/// The peers that a host saw or connected to.
///
/// A limited number of each is remembered; the one that was noted longest ago is forgotten for the next.
struct KnownPeers: Sendable {
    /// Peers that a manager wanted a connection with.
    private var used: LRUCache<PeerID, KnownPeer>
    private var heard: LRUCache<PeerID, KnownPeer>
    /// The largest limit that a manager asked for; nil before the first.
    private var requestedLimit: Int?

    /// No peers; `limit` counts for each of the two kinds.
    init(limit: Int) {
        used = LRUCache(limit: limit)
        heard = LRUCache(limit: limit)
    }

    var count: Int { used.count + heard.count }

    /// The record of a peer; setting it notes the peer.
    subscript(peer: PeerID) -> KnownPeer? {
        get { used[peer] ?? heard[peer] }
        set {
            guard let newValue else {
                used.remove(peer)
                heard.remove(peer)
                return
            }
            if used.use(peer, { $0 = newValue }) == nil { heard.insert(newValue, for: peer) }
        }
    }

    /// Notes that a manager wants a connection with a peer.
    mutating func noteUse(of peer: PeerID) {
        guard used.use(peer, { _ in }) == nil, let known = heard.remove(peer) else { return }
        used.insert(known, for: peer)
    }

    /// Forgets a peer.
    ///
    /// - Returns: Its record.
    mutating func forget(_ peer: PeerID) -> KnownPeer? {
        used.remove(peer) ?? heard.remove(peer)
    }

    /// The limit that scans apply as well.
    var limit: Int { requestedLimit ?? RoleOptions.defaultRememberedPeers }

    /// Remembers so many peers of each kind, or more if another manager wants that.
    mutating func remember(atLeast limit: Int) {
        let new = max(requestedLimit ?? 1, limit)
        requestedLimit = new
        used.changeLimit(to: new)
        heard.changeLimit(to: new)
    }
}
