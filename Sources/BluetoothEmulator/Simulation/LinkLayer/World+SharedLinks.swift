import BluetoothBackend

// Two hosts that connect to each other. A pair of addresses has one link (Core Specification, Vol 6, Part B, 4.5), so
// the existing link answers the second connect. Here, each direction is a separate `Link` with its client and its
// server; the two refer to each other and share the properties of the physical link.
extension World {
    /// Returns the link from the host behind a device to this host; nil if there is no such link.
    func reverseLink(to ref: Ref<Device>, from host: Int) -> Ref<Link>? {
        guard let other = devices[ref]?.host, let server = hosts[host].server else { return nil }
        return hosts[other].links.values.sorted().first { link in
            links[link].map { $0.device == server && !$0.isClosing && !$0.supervision.isLost } ?? false
        }
    }

    /// Makes a device of a connected central, so that its peripheral can connect to it.
    mutating func openServer(behind peer: PeerID, of host: Int) {
        let centrals = hosts[host].server.flatMap { devices[$0]?.links } ?? []
        guard let link = centrals.first(where: { links[$0]?.server.central == peer }), let other = links[link]?.host,
            hosts[other].server == nil
        else { return }
        openServer(of: other)
        guard let server = hosts[other].server else { return }
        devices[server]?.identity.peers[host] = peer
    }

    /// Shares the properties of the physical link with the existing link.
    mutating func join(_ ref: Ref<Link>, to existing: Ref<Link>?) {
        guard let existing, let link = links[existing] else { return }
        links[existing]?.other = ref
        links[ref]?.other = existing
        links[ref]?.timing = link.timing
        links[ref]?.mtu = link.mtu
        if link.supervision.isSilent { fallSilent(ref) }
    }

    /// Handles a new link: the host behind the device learns of its central, and the link answers that host's connects
    /// to it.
    mutating func welcomeCentral(of ref: Ref<Link>) {
        guard let link = links[ref], let central = link.server.central, let server = devices[link.device]?.host else {
            return
        }
        if hosts[server].peers[central] == nil {
            hosts[server].peers[central] = KnownPeer(
                address: link.server.centralAddress ?? hosts[link.host].identity.address)
        }
        guard link.other == nil, let device = hosts[link.host].server,
            let peer = devices[device]?.identity.peers[server],
            hosts[server].connecting.remove(peer) != nil
        else { return }
        context.queue.schedule(
            .established(server, device, epoch: hosts[server].adapter.epoch, .pastFault), at: context.now)
    }

    /// Copies a link's security and parameters to its other direction.
    mutating func share(_ ref: Ref<Link>) {
        guard let link = links[ref], let other = link.other else { return }
        links[other]?.security.level = link.security.level
        links[other]?.timing = link.timing
    }

    /// Ends one direction.
    ///
    /// - Returns: The other direction if it ends too: always, except after a local end while a manager needs it.
    mutating func part(_ ref: Ref<Link>, reason: DisconnectReason) -> Ref<Link>? {
        guard let other = links[ref]?.other else { return nil }
        links[ref]?.other = nil
        links[other]?.other = nil
        return reason != .local || links[other]?.isClosing == true ? other : nil
    }
}

extension DisconnectReason {
    /// The same end from the point of view of the host on the other side.
    var mirrored: DisconnectReason {
        switch self {
        case .local, .unknown: .remote
        case .remote: .unknown
        case .timeout, .authentication: self
        }
    }
}
