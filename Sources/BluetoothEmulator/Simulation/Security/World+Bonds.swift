import BluetoothBackend
import DequeModule

// What both sides keep of a pairing, and what a later link makes of it.
extension World {
    // MARK: The stores

    /// The server's bond with a host that connects to it.
    func serverBond(_ device: Ref<Device>, with host: Int) -> Bond? {
        let central = hosts[host].address
        guard let server = devices[device]?.host else { return devices[device]?.bonds[central] }
        return hosts[server].bonds[central]
    }

    private mutating func setServerBond(_ device: Ref<Device>, with host: Int, _ bond: Bond?) {
        let central = hosts[host].address
        if let server = devices[device]?.host {
            hosts[server].bonds[central] = bond
        } else {
            devices[device]?.bonds[central] = bond
        }
    }

    /// The identity address of the device that a host knows as `peer` and has keys of.
    func bondAddress(of peer: PeerID, on host: Int) -> DeviceAddress? {
        hosts[host].bonds.first { $0.value.peer == peer }?.key
    }

    /// Whether both sides can keep one bond more.
    func hasRoomForBond(on ref: Ref<Link>) -> Bool {
        guard let link = links[ref], let device = devices[link.device] else { return false }
        func hasRoom(_ bonds: [DeviceAddress: Bond], _ address: DeviceAddress, _ limit: Int) -> Bool {
            bonds[address] != nil || bonds.count < limit
        }
        guard device.host != nil || device.pairing.isBondable else { return true }
        let central = hosts[link.host].address
        let atServer =
            device.host.map { hasRoom(hosts[$0].bonds, central, configuration.maximumBonds) }
            ?? hasRoom(device.bonds, central, device.pairing.maximumBonds)
        return atServer && hasRoom(hosts[link.host].bonds, device.identityAddress, configuration.maximumBonds)
    }

    /// Keeps a new key on both sides.
    ///
    /// - Returns: Whether both keep it.
    mutating func keep(_ key: UInt64, isAuthenticated: Bool, on ref: Ref<Link>) -> Bool {
        guard let link = links[ref], let device = devices[link.device] else { return false }
        guard device.host != nil || device.pairing.isBondable else { return false }
        bond(link.host, with: link.device, as: link.peer, key, isAuthenticated: isAuthenticated)
        return true
    }

    private mutating func bond(
        _ host: Int, with ref: Ref<Device>, as peer: PeerID, _ key: UInt64, isAuthenticated: Bool
    ) {
        guard let device = devices[ref] else { return }
        hosts[host].bonds[device.identityAddress] = Bond(key: key, isAuthenticated: isAuthenticated, peer: peer)
        let server = device.host.map { hosts[$0] } ?? hosts[host]
        var kept = Bond(
            key: key, isAuthenticated: isAuthenticated, peer: server.identity(of: hosts[host].airAddress))
        kept.services = device.database.services
        setServerBond(ref, with: host, kept)
    }

    /// Bonds a host and a device as if they had paired before.
    mutating func bond(_ host: Int, with ref: Ref<Device>) {
        guard let peer = devices[ref]?.identities[host] else { return }
        bond(host, with: ref, as: peer, securityRandom.next(), isAuthenticated: true)
    }

    /// A host forgets its keys of a device; their links end.
    mutating func removeBond(
        _ address: DeviceAddress, on host: Int, asker: (manager: Ref<Manager>, operation: OperationID)? = nil
    ) {
        guard let bond = hosts[host].bonds.removeValue(forKey: address) else { return }
        tellUnpaired(bond.peer, on: host, asker)
        for ref in hosts[host].links.values.sorted()
        where links[ref].flatMap({ devices[$0.device] })?.identityAddress == address {
            terminate(ref, reason: .unknown)
        }
        for ref in hosts[host].server.flatMap({ devices[$0]?.links }) ?? []
        where links[ref].map({ hosts[$0.host].address }) == address {
            terminate(ref, reason: .remote)
        }
    }

    /// A device loses its keys of a host, or all, without a word.
    mutating func loseBonds(_ ref: Ref<Device>, with host: DeviceAddress?) {
        if let server = devices[ref]?.host {
            if let host { hosts[server].bonds[host] = nil } else { hosts[server].bonds = [:] }
        } else {
            if let host { devices[ref]?.bonds[host] = nil } else { devices[ref]?.bonds = [:] }
        }
    }

    // MARK: Links of bonded sides

    /// How a link starts.
    enum SecurityStart: Sendable {
        case secured(LinkSecurity)
        /// The device has no keys any more.
        case forgotten
        /// The device does not answer.
        case silent
    }

    /// How a link between a host and a device starts, by the keys that both have.
    func securityStart(_ host: Int, _ ref: Ref<Device>) -> SecurityStart {
        guard let device = devices[ref] else { return .secured(.plain) }
        let theirs = serverBond(ref, with: host)
        guard let own = hosts[host].bonds[device.identityAddress] else {
            return .secured(theirs == nil ? .plain : .bonded)
        }
        if device.host == nil, device.pairing.answer == .ignore { return .silent }
        return theirs?.key == own.key ? .secured(own.security) : .forgotten
    }

    /// A bonded central is back: its subscriptions stand, and it hears what changed in the meantime.
    mutating func resumeBond(on ref: Ref<Link>) {
        guard let link = links[ref], link.security.refusal == nil, let device = devices[link.device],
            let bond = serverBond(link.device, with: link.host)
        else { return }
        links[ref]?.cache = hosts[link.host].bonds[device.identityAddress]?.cache
        for attribute in bond.subscriptions.keys.sorted() {
            guard let uuid = device.database[attribute]?.uuid else { continue }
            links[ref]?.subscriptions[attribute] = bond.subscriptions[attribute]
            startNotifyTimers(attribute, of: link.device)
            handle(.subscribed(identity(of: ref), attribute, characteristic: uuid), at: link.device)
            tellSubscribed(attribute, on: ref)
        }
        let present = device.database.services
        let removed = bond.services.filter { !present.contains($0) }
        let added = present.filter { !bond.services.contains($0) }.compactMap(device.database.record(ofService:))
        if !removed.isEmpty || !added.isEmpty { send(.servicesChanged(removed: removed, added: added), on: ref) }
    }

    /// The server's end of an encrypted link is over: what it keeps for the central.
    mutating func rememberCentral(of ref: Ref<Link>) {
        guard let link = links[ref], link.security.refusal == nil,
            var bond = serverBond(link.device, with: link.host), let services = devices[link.device]?.database.services
        else { return }
        bond.subscriptions = link.subscriptions
        let isStale = link.outgoing.contains { item in
            if case .servicesChanged = item { true } else { false }
        }
        if !isStale { bond.services = services }
        setServerBond(link.device, with: link.host, bond)
    }

    /// The client's end of an encrypted link is over: it keeps the database.
    mutating func rememberDatabase(of ref: Ref<Link>) {
        guard let link = links[ref], link.security.refusal == nil, let device = devices[link.device] else { return }
        hosts[link.host].bonds[device.identityAddress]?.cache = link.cache ?? device.database
    }
}
