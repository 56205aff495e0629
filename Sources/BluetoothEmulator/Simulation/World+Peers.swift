import BluetoothBackend

// The devices that a host knows: heard ones, linked ones in either role, and bonded ones.
extension World {
    /// The links of a host's peripheral role.
    func serverLinks(of host: Int) -> [Ref<Link>] {
        hosts[host].server.flatMap { devices[$0]?.links } ?? []
    }

    /// The centrals that are connected to a host's peripheral role.
    func connectedCentrals(of host: Int) -> [ConnectedCentral] {
        serverLinks(of: host).compactMap { ref in
            guard let link = links[ref], let central = link.server.central else { return nil }
            return ConnectedCentral(peer: central, address: identity(of: ref).address, mtu: link.mtu)
        }
    }

    /// Ends the link of a central that is connected to a host's peripheral role.
    mutating func disconnectCentral(_ peer: PeerID, from host: Int, isForSecurity: Bool) {
        for ref in serverLinks(of: host) where links[ref]?.server.central == peer {
            context.queue.schedule(
                isForSecurity ? .securityClose(ref) : .remoteClose(ref),
                at: links[ref]?.timing.connectionEvent(from: context.now) ?? context.now)
        }
    }

    /// Returns the keys that a host has of other devices.
    func bonds(of host: Int) -> [HostBond] {
        hosts[host].pairing.bonds.sorted { $0.key < $1.key }.map { address, bond in
            HostBond(
                peer: bond.peer, address: airAddress(ofIdentity: address), identityAddress: address,
                isAuthenticated: bond.isAuthenticated)
        }
    }

    /// The Appearance (2A01) in Generic Access of a device that a host has a link with, unless the link may not read it.
    mutating func appearance(of peer: PeerID, on host: Int) -> Data? {
        guard let (ref, level) = link(with: peer, in: [host]), let device = links[ref]?.device,
            let id = devices[device]?.server.database.characteristic(CharacteristicPath("2A01", service: "1800")),
            devices[device]?.server.database.refusal(id, isWrite: false, on: level) == nil
        else { return nil }
        return devices[device]?.server.database[id]?.value
    }

    /// Returns the air address of the device or host with an identity address; the identity address if it was removed.
    private func airAddress(ofIdentity address: DeviceAddress) -> DeviceAddress {
        if let device = devices.refs.first(where: { devices[$0]?.identity.identityAddress == address }) {
            return devices[device]?.identity.address ?? address
        }
        return hosts.first { $0.identity.address == address }?.identity.airAddress ?? address
    }

    /// Returns the address under which a host knows a peer; nil for an unknown peer.
    func address(of peer: PeerID, on host: Int) -> DeviceAddress? {
        if let known = hosts[host].peers[peer] { return known.address }
        if let link = hosts[host].links[peer].flatMap({ links[$0] }) { return devices[link.device]?.identity.address }
        if let central = connectedCentrals(of: host).first(where: { $0.peer == peer }) { return central.address }
        return hosts[host].pairing.bondAddress(of: peer).map(airAddress(ofIdentity:))
    }
}
