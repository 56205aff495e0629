import BluetoothBackend

/// One host of the world: an adapter and the state that its managers share.
struct Host: Sendable {
    var identity: HostIdentity
    var adapter: HostAdapter
    /// The device that the host's peripheral managers form on the air; nil before the first manager.
    var server: Ref<Device>?
    var managers: [Ref<Manager>] = []
    var ledger = HostLedger()
    var peers = KnownPeers(limit: RoleOptions.defaultRememberedPeers)
    var terminatedApps = TerminatedApps()
    var links: [PeerID: Ref<Link>] = [:]
    /// The peers whose next connectable packet the host answers.
    var connecting: Set<PeerID> = []
    var scanning = HostScanning()
    /// The parameters of new links, if a host outside of the emulator has chosen them.
    var linkParameters: ConnectionParameters?
    /// The port at which a host outside of the emulator attaches; nil while none is open.
    var openPort: HostPort?

    /// Creates a described host; anonymous if it serves a peripheral manager that named none.
    init(_ description: HostDescription, isAnonymous: Bool = false) {
        identity = HostIdentity(description, isAnonymous: isAnonymous)
        adapter = HostAdapter(
            isPowered: description.isPowered, authorization: description.authorization,
            maximumMTU: description.maximumMTU)
    }

    var canServe: Bool { adapter.features.contains(.peripheralRole) }

    /// Whether managers that name no host use this one.
    var isUnnamedChoice: Bool { identity.isAnonymous || identity.name == "default" }
}

/// The adapter of a host: its power, its permission, its features.
struct HostAdapter: Sendable {
    var features = Set(BackendFeature.allCases)
    var isPlugged = true
    var isPowered: Bool
    var isResetting = false
    var authorization: AuthorizationStatus
    /// The state that a test set, which replaces the derived one.
    var shownState: AdapterState?
    /// The largest ATT MTU of the host's links; nil uses the settings' value.
    var maximumMTU: Int?
    /// The content that the advertisements of peripheral managers carry besides their own.
    var advertising = HostAdvertising()
    /// Whether ``state`` is `.poweredOn`; precomputed because each packet needs it.
    private(set) var isOn = false
    /// Incremented when power is lost, which voids everything under way.
    var epoch: UInt32 = 0

    init(isPowered: Bool, authorization: AuthorizationStatus, maximumMTU: Int?) {
        self.isPowered = isPowered
        self.authorization = authorization
        self.maximumMTU = maximumMTU
        isOn = state == .poweredOn
    }

    /// The state that managers see.
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

    /// Changes the properties from which the state is derived.
    mutating func change(_ body: (inout HostAdapter) -> Void) {
        body(&self)
        isOn = state == .poweredOn
    }
}

/// A peer that a host saw or connected to.
struct KnownPeer: Sendable {
    var address: DeviceAddress
    var advertisedName: String?
    /// The GAP Device Name, after it was read.
    var deviceName: String?

    var name: String? { deviceName ?? advertisedName }
}

/// The peers that a host saw or connected to.
///
/// The memory has a limit for each of two kinds; the least recently noted peer is forgotten first.
struct KnownPeers: Sendable {
    /// Peers to which a manager wanted a connection.
    private var used: LRUCache<PeerID, KnownPeer>
    private var heard: LRUCache<PeerID, KnownPeer>
    /// The largest limit that a manager requested; nil before the first request.
    private var requestedLimit: Int?

    /// Creates an empty memory; `limit` applies to each of the two kinds.
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

    /// Records that a manager wants a connection to a peer.
    mutating func noteUse(of peer: PeerID) {
        guard used.use(peer, { _ in }) == nil, let known = heard.remove(peer) else { return }
        used.insert(known, for: peer)
    }

    /// Forgets a peer.
    ///
    /// - Returns: The peer's record.
    mutating func forget(_ peer: PeerID) -> KnownPeer? {
        used.remove(peer) ?? heard.remove(peer)
    }

    /// The limit, which scans apply as well.
    var limit: Int { requestedLimit ?? RoleOptions.defaultRememberedPeers }

    /// Raises the limit of each kind to at least `limit`.
    mutating func remember(atLeast limit: Int) {
        let new = max(requestedLimit ?? 1, limit)
        requestedLimit = new
        used.changeLimit(to: new)
        heard.changeLimit(to: new)
    }
}
