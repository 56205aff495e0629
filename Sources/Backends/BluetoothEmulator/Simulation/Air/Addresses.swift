import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// The addresses of a device, and the identifiers under which hosts know it.
struct DeviceIdentity: Sendable {
    /// The address on the air.
    var address: DeviceAddress
    /// The address by which peers with the device's keys know it.
    var identityAddress: DeviceAddress
    private var random: SeededGenerator
    /// The identifiers of the device, by host.
    var peers: [PeerID]

    init(_ address: DeviceAddress, peers: [PeerID], seed: UInt64) {
        self.address = address
        identityAddress = address
        random = SeededGenerator(seed: seed, stream: "address \(address)")
        self.peers = peers
    }

    /// Creates the identity of the device that a host's managers form.
    init(_ host: HostIdentity, peers: [PeerID], seed: UInt64) {
        self.init(host.address, peers: peers, seed: seed)
        address = host.airAddress
    }

    /// Adds the identifier under which a new host knows the device.
    mutating func learn(_ host: HostIdentity) { peers.append(host.peerID(of: address)) }

    mutating func nextPrivateAddress() -> DeviceAddress { DeviceAddress(resolvable: random.next()) }
}

/// The name and the addresses of a host.
struct HostIdentity: Sendable {
    let name: String
    /// Whether the host was created for a peripheral manager that named no host.
    let isAnonymous: Bool
    /// The identity address, by which peers with the host's keys know it.
    let address: DeviceAddress
    /// The address on the air.
    var airAddress: DeviceAddress
    /// The period after which the host changes to a new private address.
    let rotation: Duration?
    /// The port at which a host outside of the emulator attaches.
    let port: HCIPortAddress?
    private var rotations: UInt64 = 0

    init(_ description: HostDescription, isAnonymous: Bool) {
        name = description.name
        self.isAnonymous = isAnonymous
        if let address = description.address {
            self.address = address
        } else if description.hci != nil {
            // Its two highest bits and its group bit are 0, and it is locally administered.
            var generator = SeededGenerator(seed: 0, stream: "public address \(description.name)")
            address = DeviceAddress(bits: generator.next() & 0x3EFF_FFFF_FFFF | 0x0200_0000_0000)
        } else {
            // The two highest bits mark a random static address (Core Specification, Vol 6, Part B, 1.3.2.1).
            var generator = SeededGenerator(seed: 0, stream: "host \(description.name)")
            address = DeviceAddress(bits: generator.next() | 0xC000_0000_0000)
        }
        airAddress = address
        rotation = description.addressRotation
        port = description.hci
    }

    /// Returns the identifier under which this host knows an address: equal in all worlds and processes, different on
    /// each host.
    func peerID(of device: DeviceAddress) -> PeerID {
        var generator = SeededGenerator(seed: device.bits, stream: address.description)
        return PeerID(generator.uuid())
    }

    mutating func rotate(seed: UInt64) {
        rotations += 1
        var random = SeededGenerator(seed: seed &+ rotations, stream: "address \(address)")
        airAddress = DeviceAddress(resolvable: random.next())
    }
}

extension DeviceAddress {
    /// Creates a resolvable private address (Core Specification, Vol 6, Part B, 1.3.2.2).
    fileprivate init(resolvable random: UInt64) {
        self.init(bits: random & 0x3FFF_FFFF_FFFF | 0x4000_0000_0000)
    }
}
