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
    private(set) var airAddress: DeviceAddress
    /// The period after which the host changes to a new private address.
    let rotation: Duration?
    private var rotations: UInt64 = 0

    init(_ description: HostDescription, isAnonymous: Bool) {
        name = description.name
        self.isAnonymous = isAnonymous
        if let address = description.address {
            self.address = address
        } else {
            // The two highest bits mark a random static address (Core Specification, Vol 6, Part B, 1.3.2.1).
            var generator = SeededGenerator(seed: 0, stream: "host \(description.name)")
            address = DeviceAddress(bits: generator.next() | 0xC000_0000_0000)
        }
        airAddress = address
        rotation = description.addressRotation
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

// Address privacy: devices with changing addresses, recognized by peers with their keys.
extension World {
    /// Changes a device to a new resolvable private address; its links stay.
    ///
    /// Hosts with its keys recognize it; others see a new device. Source: Core Specification, Vol 6, Part B, 1.3.2.2.
    mutating func rotateAddress(of ref: Ref<Device>) {
        if let host = devices[ref]?.host { return rotateAddress(of: host) }
        guard let address = devices[ref]?.identity.nextPrivateAddress() else { return }
        setAddress(address, of: ref)
        showAddress(of: ref)
    }

    /// Changes a host, as central and as peripheral, to a new resolvable private address; its links stay.
    mutating func rotateAddress(of host: Int) {
        hosts[host].identity.rotate(seed: context.random.seed)
        reportChange(ofHost: host)
        guard let server = hosts[host].server else { return }
        setAddress(hosts[host].identity.airAddress, of: server)
        showAddress(of: server)
    }

    mutating func setAddress(_ address: DeviceAddress, of ref: Ref<Device>) {
        if let old = devices[ref]?.identity.address { air.addresses.remove(old) }
        air.addresses.insert(address)
        devices[ref]?.identity.address = address
    }

    /// Identifies the central of a new link for the device: by its keys, else by its present address.
    mutating func showCentral(of ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        let bond = serverBond(link.device, with: link.host)
        links[ref]?.server.centralAddress =
            bond == nil ? hosts[link.host].identity.airAddress : hosts[link.host].identity.address
        guard let server = devices[link.device]?.host else { return }
        links[ref]?.server.central =
            bond?.peer ?? hosts[server].identity.peerID(of: hosts[link.host].identity.airAddress)
    }

    /// The central of a link, as the device knows it.
    func identity(of link: Ref<Link>) -> CentralIdentity {
        guard let host = links[link]?.host, let mtu = links[link]?.mtu else {
            return CentralIdentity(host: "", address: DeviceAddress(bits: 0), mtu: ATTLimits.minimumMTU)
        }
        return CentralIdentity(
            host: hosts[host].identity.name,
            address: links[link]?.server.centralAddress ?? hosts[host].identity.address, mtu: mtu)
    }

    /// Returns a host that connects to a device, as the device knows it.
    func identity(ofHost host: Int, at ref: Ref<Device>) -> CentralIdentity {
        let identity = hosts[host].identity
        return CentralIdentity(
            host: identity.name, address: serverBond(ref, with: host) == nil ? identity.airAddress : identity.address,
            mtu: ATTLimits.minimumMTU)
    }

    /// Tells all hosts a device's present address; hosts without its keys get a new identifier.
    mutating func showAddress(of ref: Ref<Device>) {
        guard let device = devices[ref] else { return }
        for host in hosts.indices {
            if hosts[host].pairing.bonds[device.identity.identityAddress] != nil {
                hosts[host].peers[device.identity.peers[host]]?.address = device.identity.address
            } else {
                devices[ref]?.identity.peers[host] = hosts[host].identity.peerID(of: device.identity.address)
            }
        }
        devices[ref]?.advertiser.addressChanged()
        reportChange(of: ref)
        wake(ref)
    }

    /// Rotates a host's address, and schedules the next rotation.
    mutating func rotationDue(_ host: Int) {
        guard let period = hosts[host].identity.rotation else { return }
        rotateAddress(of: host)
        context.queue.schedule(.rotateHostAddress(host), at: context.now + period.nanoseconds, isPeriodic: true)
    }

    /// Rotates a device's address, and schedules the next rotation.
    mutating func rotationDue(_ ref: Ref<Device>) {
        guard let period = devices[ref]?.description.addressRotation else { return }
        rotateAddress(of: ref)
        context.queue.schedule(.rotateAddress(ref), at: context.now + period.nanoseconds, isPeriodic: true)
    }
}
