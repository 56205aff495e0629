import BluetoothBackend

// The devices that a host knows: heard ones, linked ones in either role, and bonded ones.
extension World {
    /// The links of a host's peripheral role.
    func serverLinks(of host: Int) -> [Ref<Link>] {
        hosts[host].server.flatMap { air.devices[$0]?.links } ?? []
    }

    /// The links of a host's peripheral role with a central.
    func serverLinks(of host: Int, with peer: PeerID) -> [Ref<Link>] {
        serverLinks(of: host).filter { links[$0]?.server.central == peer }
    }

    /// The centrals that are connected to a host's peripheral role.
    func connectedCentrals(of host: Int) -> [ConnectedCentral] {
        serverLinks(of: host).compactMap { ref in
            guard let link = links[ref], let central = link.server.central else { return nil }
            return ConnectedCentral(peer: central, address: links.central(of: ref, hosts).address, mtu: link.mtu)
        }
    }

    /// Ends the link of a central that is connected to a host's peripheral role.
    mutating func disconnectCentral(_ peer: PeerID, from host: Int, isForSecurity: Bool) {
        for ref in serverLinks(of: host, with: peer) {
            context.queue.schedule(
                isForSecurity ? .securityClose(ref) : .remoteClose(ref),
                at: links.connectionEvent(of: ref, from: context.now))
        }
    }

    /// The Appearance (2A01) in Generic Access of a device that a host has a link with, unless the link may not read it.
    mutating func appearance(of peer: PeerID, on host: Int) -> Data? {
        guard let (ref, level) = link(with: peer, in: [host]), let device = links[ref]?.device,
            let id = air.devices[device]?.server.database.characteristic(CharacteristicPath("2A01", service: "1800")),
            air.devices[device]?.server.database.refusal(id, isWrite: false, on: level) == nil
        else { return nil }
        return air.devices[device]?.server.database[id]?.value
    }

    /// Returns the address under which a host knows a peer; nil for an unknown peer.
    func address(of peer: PeerID, on host: Int) -> DeviceAddress? {
        if let known = hosts[host].peers[peer] { return known.address }
        if let link = hosts[host].links[peer].flatMap({ links[$0] }) {
            return air.devices[link.device]?.identity.address
        }
        if let central = connectedCentrals(of: host).first(where: { $0.peer == peer }) { return central.address }
        return security[host].bondAddress(of: peer).map { security.airAddress(ofIdentity: $0, air, hosts) }
    }
}
