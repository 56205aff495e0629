import BluetoothBackend
import BluetoothValues

/// The keys of all hosts and devices, and the pairings that make new ones.
struct Security: Sendable {
    private var stores: [Int: HostPairing] = [:]
    /// The bonds of described devices, by the host's address; a host's own device uses the host's bonds.
    private var deviceBonds: [Ref<Device>: [DeviceAddress: Bond]] = [:]
    var pairings: [Ref<Link>: Pairing] = [:]
    /// The links on which pairing is barred after a pairing timed out.
    var barred: Set<Ref<Link>> = []

    subscript(host: Int) -> HostPairing {
        get { stores[host] ?? HostPairing() }
        _modify { yield &stores[host, default: HostPairing()] }
    }

    // MARK: The stores

    /// Whether a host has the keys of a device.
    func isBonded(_ host: Int, with address: DeviceAddress) -> Bool { stores[host]?.bonds[address] != nil }

    /// The server's bond with a host that connects to it.
    func serverBond(_ ref: Ref<Device>, _ device: Device, with host: Host) -> Bond? {
        serverBonds(ref, device)[host.identity.address]
    }

    private func serverBonds(_ ref: Ref<Device>, _ device: Device) -> [DeviceAddress: Bond] {
        device.host.map { self[$0].bonds } ?? deviceBonds[ref] ?? [:]
    }

    private mutating func setServerBond(_ bond: Bond, with address: DeviceAddress, _ ref: Ref<Device>, _ device: Device)
    {
        if let server = device.host {
            self[server].bonds[address] = bond
        } else {
            deviceBonds[ref, default: [:]][address] = bond
        }
    }

    func hasRoomForBond(_ link: Link, _ device: Device, _ hosts: Hosts, _ maximum: Int) -> Bool {
        func hasRoom(_ bonds: [DeviceAddress: Bond], _ address: DeviceAddress, _ limit: Int) -> Bool {
            bonds[address] != nil || bonds.count < limit
        }
        guard device.host != nil || device.description.pairing.isBondable else { return true }
        let limit = device.host == nil ? device.description.pairing.maximumBonds : maximum
        return hasRoom(serverBonds(link.device, device), hosts[link.host].identity.address, limit)
            && hasRoom(self[link.host].bonds, device.identity.identityAddress, maximum)
    }

    /// Stores a new key on both sides, or on one side only.
    mutating func bond(
        _ host: Int, with ref: Ref<Device>, _ device: Device, as peer: PeerID, _ key: UInt64, isAuthenticated: Bool,
        isStoredByHost: Bool = true, isStoredByDevice: Bool = true, _ lower: inout LowerLayers
    ) {
        let (central, address) = (lower.hosts[host].identity, device.identity.identityAddress)
        if isStoredByHost {
            self[host].bonds[address] = Bond(key: key, isAuthenticated: isAuthenticated, peer: peer)
        }
        if isStoredByDevice {
            var serverBond = Bond(
                key: key, isAuthenticated: isAuthenticated,
                peer: lower.hosts[device.host ?? host].identity.peerID(of: central.airAddress))
            serverBond.services = device.server.database.services
            setServerBond(serverBond, with: central.address, ref, device)
        }
        if isStoredByHost { reportBond(address, on: host, &lower) }
        if isStoredByDevice, let server = device.host { reportBond(central.address, on: server, &lower) }
    }

    private func reportBond(_ address: DeviceAddress, on host: Int, _ lower: inout LowerLayers) {
        guard lower.context.tapped.contains(.hosts),
            let bond = bonds(of: host, lower.air, lower.hosts).first(where: { $0.identityAddress == address })
        else { return }
        lower.context.report(.bondMade(host: host, bond))
    }

    /// Deletes a host's keys of a device.
    ///
    /// - Returns: The bond, if there was one.
    mutating func removeBond(_ address: DeviceAddress, on host: Int, _ context: inout WorldContext) -> Bond? {
        guard let bond = self[host].bonds.removeValue(forKey: address) else { return nil }
        context.report(.bondRemoved(host: host, peer: bond.peer, identityAddress: address))
        return bond
    }

    /// Deletes a device's keys of a host, or of all hosts, without notice.
    mutating func loseBonds(
        _ ref: Ref<Device>, _ device: Device, with address: DeviceAddress?, _ context: inout WorldContext
    ) {
        guard let server = device.host else {
            context.report(.keysLost(device: ref.serial, ofHost: address))
            if let address { deviceBonds[ref]?[address] = nil } else { deviceBonds[ref] = nil }
            return
        }
        for (known, bond) in self[server].bonds.sorted(by: { $0.key < $1.key }) where address ?? known == known {
            self[server].bonds[known] = nil
            context.report(.bondRemoved(host: server, peer: bond.peer, identityAddress: known))
        }
    }

    /// Forgets a removed device.
    mutating func forget(_ ref: Ref<Device>) { deviceBonds[ref] = nil }

    // MARK: Identities

    /// Returns the keys that a host has of other devices.
    func bonds(of host: Int, _ air: Air, _ hosts: Hosts) -> [HostBond] {
        self[host].bonds.sorted { $0.key < $1.key }.map { address, bond in
            HostBond(
                peer: bond.peer, address: airAddress(ofIdentity: address, air, hosts), identityAddress: address,
                isAuthenticated: bond.isAuthenticated)
        }
    }

    /// Returns the air address of the device or host with an identity address; the identity address if it was removed.
    func airAddress(ofIdentity address: DeviceAddress, _ air: Air, _ hosts: Hosts) -> DeviceAddress {
        for (_, device) in air.devices.entries where device.identity.identityAddress == address {
            return device.identity.address
        }
        return hosts.first { $0.identity.address == address }?.identity.airAddress ?? address
    }

    /// Returns a host that connects to a device, as the device knows it.
    func identity(of host: Host, at ref: Ref<Device>, _ device: Device) -> CentralIdentity {
        let address = serverBond(ref, device, with: host) == nil ? host.identity.airAddress : host.identity.address
        return CentralIdentity(host: host.identity.name, address: address, mtu: ATTLimits.minimumMTU)
    }

    // MARK: Links of bonded sides

    /// The security with which a link starts.
    enum Start: Sendable {
        case secured(SecurityLevel)
        /// The device has lost its keys.
        case forgotten
        /// The device does not answer.
        case silent
    }

    /// Returns the start of a link between a host and a device, according to the keys of both.
    func start(_ number: Int, _ host: Host, _ ref: Ref<Device>, _ device: Device) -> Start {
        let theirs = serverBond(ref, device, with: host)
        guard let own = self[number].bonds[device.identity.identityAddress] else {
            return .secured(theirs == nil ? .plain : .bonded)
        }
        if device.handler.isExternal { return .secured(.bonded) }
        if device.host == nil, device.description.pairing.answer == .ignore { return .silent }
        return theirs?.key == own.key ? .secured(own.security) : .forgotten
    }

    /// Identifies the central of a new link for the device: by its keys, else by its present address.
    func showCentral(of link: inout Link, _ device: Device, _ hosts: Hosts) {
        let (bond, central) = (serverBond(link.device, device, with: hosts[link.host]), hosts[link.host].identity)
        link.centralAddress = bond == nil ? central.airAddress : central.address
        link.server = device.host.map { server in
            Link.Server(host: server, central: bond?.peer ?? hosts[server].identity.peerID(of: central.airAddress))
        }
    }

    /// Stores the central's state when the server's end of an encrypted link ends.
    mutating func rememberCentral(of link: Link, _ server: LinkServer, _ device: Device, _ host: Host) {
        guard link.security.refusal == nil, var bond = serverBond(link.device, device, with: host) else { return }
        bond.subscriptions = server.subscriptions
        let isStale = server.outgoing.contains { item in if case .servicesChanged = item { true } else { false } }
        if !isStale { bond.services = device.server.database.services }
        setServerBond(bond, with: host.identity.address, link.device, device)
    }

    /// Stores the database when the client's end of an encrypted link ends.
    mutating func rememberDatabase(of link: Link, _ cache: AttributeDatabase?, _ device: Device) {
        guard link.security.refusal == nil else { return }
        self[link.host].bonds[device.identity.identityAddress]?.cache = cache ?? device.server.database
    }
}
