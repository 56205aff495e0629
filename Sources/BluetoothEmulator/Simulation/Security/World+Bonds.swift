import BluetoothBackend

// The bonds of both sides, and their use by later links.
extension World {
    // MARK: The stores

    /// The server's bond with a host that connects to it.
    func serverBond(_ device: Ref<Device>, with host: Int) -> Bond? {
        self[serverBonds: device][hosts[host].identity.address]
    }

    /// The bonds of a described device, or of the host behind a device.
    private subscript(serverBonds device: Ref<Device>) -> [DeviceAddress: Bond] {
        get { devices[device]?.host.map { hosts[$0].pairing.bonds } ?? devices[device]?.bonds ?? [:] }
        set {
            if let server = devices[device]?.host {
                hosts[server].pairing.bonds = newValue
            } else {
                devices[device]?.bonds = newValue
            }
        }
    }

    func hasRoomForBond(on ref: Ref<Link>) -> Bool {
        guard let link = links[ref], let device = devices[link.device] else { return false }
        func hasRoom(_ bonds: [DeviceAddress: Bond], _ address: DeviceAddress, _ limit: Int) -> Bool {
            bonds[address] != nil || bonds.count < limit
        }
        guard device.host != nil || device.description.pairing.isBondable else { return true }
        let limit = device.host == nil ? device.description.pairing.maximumBonds : context.configuration.maximumBonds
        return hasRoom(self[serverBonds: link.device], hosts[link.host].identity.address, limit)
            && hasRoom(
                hosts[link.host].pairing.bonds, device.identity.identityAddress, context.configuration.maximumBonds)
    }

    /// Stores a new key on both sides.
    ///
    /// - Returns: Whether both sides store it.
    mutating func storeBond(_ key: UInt64, isAuthenticated: Bool, on ref: Ref<Link>) -> Bool {
        guard let link = links[ref], let device = devices[link.device] else { return false }
        guard device.host != nil || device.description.pairing.isBondable else { return false }
        bond(link.host, with: link.device, as: link.peer, key, isAuthenticated: isAuthenticated)
        return true
    }

    private mutating func bond(
        _ host: Int, with ref: Ref<Device>, as peer: PeerID, _ key: UInt64, isAuthenticated: Bool
    ) {
        guard let device = devices[ref] else { return }
        hosts[host].pairing.bonds[device.identity.identityAddress] = Bond(
            key: key, isAuthenticated: isAuthenticated, peer: peer)
        let server = device.host.map { hosts[$0] } ?? hosts[host]
        var serverBond = Bond(
            key: key, isAuthenticated: isAuthenticated,
            peer: server.identity.peerID(of: hosts[host].identity.airAddress))
        serverBond.services = device.server.database.services
        self[serverBonds: ref][hosts[host].identity.address] = serverBond
        reportBond(device.identity.identityAddress, on: host)
        if let server = device.host { reportBond(hosts[host].identity.address, on: server) }
    }

    /// Bonds a host and a device, as if they had paired before.
    mutating func bond(_ host: Int, with ref: Ref<Device>) {
        guard let peer = devices[ref]?.identity.peers[host] else { return }
        bond(host, with: ref, as: peer, context.random.security.next(), isAuthenticated: true)
    }

    /// Deletes a host's keys of a device; their links end.
    mutating func removeBond(
        _ address: DeviceAddress, on host: Int, asker: (manager: Ref<Manager>, operation: OperationID)? = nil
    ) {
        guard let bond = hosts[host].pairing.bonds.removeValue(forKey: address) else { return }
        if context.tapped.contains(.hosts) {
            context.report(.bondRemoved(host: host, peer: bond.peer, identityAddress: address))
        }
        reportUnpaired(bond.peer, on: host, asker)
        for ref in hosts[host].links.values.sorted()
        where links[ref].flatMap({ devices[$0.device] })?.identity.identityAddress == address {
            terminate(ref, reason: .unknown)
        }
        for ref in hosts[host].server.flatMap({ devices[$0]?.links }) ?? []
        where links[ref].map({ hosts[$0.host].identity.address }) == address {
            terminate(ref, reason: .remote)
        }
    }

    /// Deletes a device's keys of a host, or of all hosts, without notice.
    mutating func loseBonds(_ ref: Ref<Device>, with host: DeviceAddress?) {
        reportLoss(ofKeys: host, by: ref)
        if let host { self[serverBonds: ref][host] = nil } else { self[serverBonds: ref] = [:] }
    }

    // MARK: Links of bonded sides

    /// The security with which a link starts.
    enum SecurityStart: Sendable {
        case secured(SecurityLevel)
        /// The device has lost its keys.
        case forgotten
        /// The device does not answer.
        case silent
    }

    /// Returns the start of a link between a host and a device, according to the keys of both.
    func securityStart(_ host: Int, _ ref: Ref<Device>) -> SecurityStart {
        guard let device = devices[ref] else { return .secured(.plain) }
        let theirs = serverBond(ref, with: host)
        guard let own = hosts[host].pairing.bonds[device.identity.identityAddress] else {
            return .secured(theirs == nil ? .plain : .bonded)
        }
        if device.host == nil, device.description.pairing.answer == .ignore { return .silent }
        return theirs?.key == own.key ? .secured(own.security) : .forgotten
    }

    /// Restores the subscriptions of a bonded central that is connected again, and indicates Service Changed for the
    /// changes in the meantime.
    mutating func resumeBond(on ref: Ref<Link>) {
        guard let link = links[ref], link.security.level.refusal == nil, let device = devices[link.device],
            let bond = serverBond(link.device, with: link.host)
        else { return }
        links[ref]?.client.cache = hosts[link.host].pairing.bonds[device.identity.identityAddress]?.cache
        for attribute in bond.subscriptions.keys.sorted() {
            guard let uuid = device.server.database[attribute]?.uuid else { continue }
            subscribe(attribute, uuid, bond.subscriptions[attribute], on: ref)
        }
        let present = device.server.database.services
        let removed = bond.services.filter { !present.contains($0) }
        let added = present.filter { !bond.services.contains($0) }.compactMap(device.server.database.record(ofService:))
        if !removed.isEmpty || !added.isEmpty { send(.servicesChanged(removed: removed, added: added), on: ref) }
    }

    /// Stores the central's state when the server's end of an encrypted link ends.
    mutating func rememberCentral(of ref: Ref<Link>) {
        guard let link = links[ref], link.security.level.refusal == nil,
            var bond = serverBond(link.device, with: link.host),
            let services = devices[link.device]?.server.database.services
        else { return }
        bond.subscriptions = link.server.subscriptions
        let isStale = link.server.outgoing.contains { item in
            if case .servicesChanged = item { true } else { false }
        }
        if !isStale { bond.services = services }
        self[serverBonds: link.device][hosts[link.host].identity.address] = bond
    }

    /// Stores the database when the client's end of an encrypted link ends.
    mutating func rememberDatabase(of ref: Ref<Link>) {
        guard let link = links[ref], link.security.level.refusal == nil, let device = devices[link.device] else {
            return
        }
        hosts[link.host].pairing.bonds[device.identity.identityAddress]?.cache =
            link.client.cache ?? device.server.database
    }
}
