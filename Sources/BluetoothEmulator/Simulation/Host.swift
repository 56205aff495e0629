import BluetoothBackend
import BluetoothSupport

/// One host of the world: an adapter and what the managers on it share.
struct Host: Sendable {
    /// A manager that listens for an L2CAP channel.
    struct Listener: Sendable {
        let manager: Ref<Manager>
        let isEncryptionRequired: Bool
    }

    var identity: HostIdentity
    var adapter: HostAdapter
    /// What the host's peripheral managers are on the air; nil before the first.
    var server: Ref<Device>?
    var managers: [Ref<Manager>] = []
    var ledger = HostLedger()
    var peers = KnownPeers(limit: CentralOptions.defaultRememberedPeers)
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
        adapter = HostAdapter(isPowered: description.isPowered, authorization: description.authorization)
    }

    /// Whether it has the peripheral role.
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
    /// Whether ``state`` is `.poweredOn`, precomputed as each packet needs it.
    private(set) var isOn = false
    /// Grows when power is lost, so that what was under way is void.
    var epoch: UInt32 = 0

    init(isPowered: Bool, authorization: AuthorizationStatus) {
        self.isPowered = isPowered
        self.authorization = authorization
        isOn = state == .poweredOn
    }

    /// The state as managers see it.
    var state: AdapterState {
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
