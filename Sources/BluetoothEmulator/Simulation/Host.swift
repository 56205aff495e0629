import BluetoothBackend
import BluetoothSupport

/// One host of the world: an adapter and what the managers on it share.
struct Host: Sendable {
    /// A peer that the host saw or connected to.
    struct KnownPeer: Sendable {
        var address: DeviceAddress
        var advertisedName: String?
        /// The GAP Device Name, once it was read.
        var deviceName: String?

        var name: String? { deviceName ?? advertisedName }
    }

    /// One manager's scan.
    struct Scanner: Sendable {
        let manager: Ref<Manager>
        var filter: ScanReportFilter
        /// What was reported of a set's present data, so that a repetition need not be merged again; nil if it is
        /// not wanted.
        var reports: [Int: Report] = [:]
    }

    /// What a scan makes of the data of one advertising set.
    struct Report: Sendable {
        let generation: UInt32
        /// What is told; nil if it is not wanted.
        let discovery: Discovery?
    }

    /// Who listens for an L2CAP channel.
    struct Listener: Sendable {
        let manager: Ref<Manager>
        let isEncryptionRequired: Bool
    }

    let name: String
    /// The identity address, by which those who have keys know it.
    let address: DeviceAddress
    /// The address on the air.
    var airAddress: DeviceAddress
    /// Takes a new private address so often.
    let addressRotation: Duration?
    /// How often it did.
    var rotations: UInt64 = 0
    /// What its radio can do.
    var features = Set(BackendFeature.allCases)
    /// Made for a peripheral manager that named no host.
    var isAnonymous = false
    /// What the host's peripheral managers are on the air; nil before the first.
    var server: Ref<Device>?
    var isPlugged = true
    var isPowered = true
    var isResetting = false
    var authorization = AuthorizationStatus.allowed
    /// Whether ``state`` is `.poweredOn`, at hand for each packet.
    var isOn = true
    /// Grows when power goes, so that what was under way is void.
    var epoch: UInt32 = 0
    var ledger = HostLedger()
    var managers: [Ref<Manager>] = []
    var peers = KnownPeers(limit: CentralOptions.defaultRememberedPeers)
    /// How many peers are remembered; nil before a manager said so.
    private(set) var rememberedPeers: Int?
    /// By number of the channel.
    var listeners: [UInt16: Listener] = [:]
    /// By restore identifier.
    var terminatedCentrals: [String: TerminatedCentral] = [:]
    var terminatedPeripherals: [String: TerminatedPeripheral] = [:]
    /// By identity address.
    var bonds: [DeviceAddress: Bond] = [:]
    /// The pairings that wait for a link.
    var pairingWishes: [PeerID: [(manager: Ref<Manager>, operation: OperationID)]] = [:]
    var links: [PeerID: Ref<Link>] = [:]
    /// The peers whose next connectable packet is answered.
    var connecting: Set<PeerID> = []
    var scanners: [Scanner] = []
    /// Grows when the set of scans changes.
    var scanEpoch: UInt64 = 1
    /// Whether a scan wants every packet.
    var wantsDuplicates = false

    init(_ description: HostDescription) {
        name = description.name
        if let address = description.address {
            self.address = address
        } else {
            // The two highest bits mark a random static address (Core Specification, Vol 6, Part B, 1.3.2.1).
            var generator = SeededGenerator(seed: 0, stream: "host \(description.name)")
            address = DeviceAddress(bits: generator.next() | 0xC000_0000_0000)
        }
        airAddress = address
        addressRotation = description.addressRotation
        isPowered = description.isPowered
        authorization = description.authorization
        isOn = state == .poweredOn
    }

    /// Remembers so many peers, or more if another manager wants that.
    mutating func remember(atLeast limit: Int) {
        let new = max(rememberedPeers ?? 1, limit)
        rememberedPeers = new
        peers.changeLimit(to: new)
    }

    /// Whether it has the peripheral role.
    var canServe: Bool { features.contains(.peripheralRole) }

    var hasScanners: Bool { !scanners.isEmpty }

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

    /// The identity under which this host knows an address: the same in each world and process, another on
    /// another host.
    func identity(of device: DeviceAddress) -> PeerID {
        var generator = SeededGenerator(seed: device.bits, stream: address.description)
        return PeerID(generator.uuid())
    }
}
