import BluetoothBackend

// Two hosts that connect to each other: there is one link for a pair of addresses (Core Specification, Vol 6, Part B,
// 4.5), so the second connect is answered with the link that stands. Each direction is a `Link` of its own here, with
// its client and its server; the two know each other and share what is the physical link's.
extension World {
    /// The link that stands between a host and the host behind a device, the other way round; nil if there is none.
    func standingLink(to ref: Ref<Device>, from host: Int) -> Ref<Link>? {
        guard let other = devices[ref]?.host, let server = hosts[host].server else { return nil }
        return hosts[other].links.values.sorted().first { link in
            links[link].map { $0.device == server && !$0.isClosing && !$0.isLost } ?? false
        }
    }

    /// Makes a central that is connected a device, so that its peripheral can connect to it.
    mutating func openServer(behind peer: PeerID, of host: Int) {
        let centrals = hosts[host].server.flatMap { devices[$0]?.links } ?? []
        guard let link = centrals.first(where: { links[$0]?.central == peer }), let other = links[link]?.host,
            hosts[other].server == nil
        else { return }
        openServer(of: other)
        guard let server = hosts[other].server else { return }
        devices[server]?.identities[host] = peer
    }

    /// Shares what is the physical link's with the link that stands.
    mutating func join(_ ref: Ref<Link>, to standing: Ref<Link>?) {
        guard let standing, let link = links[standing] else { return }
        links[standing]?.other = ref
        links[ref]?.other = standing
        links[ref]?.interval = link.interval
        links[ref]?.latency = link.latency
        links[ref]?.supervisionTimeout = link.supervisionTimeout
        links[ref]?.anchor = link.anchor
        links[ref]?.mtu = link.mtu
        if link.isSilent { fallSilent(ref) }
    }

    /// A link came up: the host behind the device knows its central, and its connects to it are answered by the link.
    mutating func welcomeCentral(of ref: Ref<Link>) {
        guard let link = links[ref], let central = link.central, let server = devices[link.device]?.host else { return }
        if hosts[server].peers[central] == nil {
            hosts[server].peers[central] = Host.KnownPeer(address: link.centralAddress ?? hosts[link.host].address)
        }
        guard link.other == nil, let device = hosts[link.host].server, let peer = devices[device]?.identities[server],
            hosts[server].connecting.remove(peer) != nil
        else { return }
        queue.schedule(.established(server, device, epoch: hosts[server].epoch, isAdmitted: true), at: now)
    }

    /// Both directions have the same security.
    mutating func shareSecurity(of ref: Ref<Link>) {
        guard let link = links[ref], let other = link.other else { return }
        links[other]?.security = link.security
    }

    /// Both directions have the same parameters.
    mutating func shareParameters(of ref: Ref<Link>) {
        guard let link = links[ref], let other = link.other else { return }
        links[other]?.interval = link.interval
        links[other]?.latency = link.latency
        links[other]?.supervisionTimeout = link.supervisionTimeout
        links[other]?.anchor = link.anchor
    }

    /// One direction is over.
    ///
    /// - Returns: The other one, if it ends too: all but a local end takes it along, and that one where nobody wants it
    ///   any more.
    mutating func part(_ ref: Ref<Link>, reason: DisconnectReason) -> Ref<Link>? {
        guard let other = links[ref]?.other else { return nil }
        links[ref]?.other = nil
        links[other]?.other = nil
        return reason != .local || links[other]?.isClosing == true ? other : nil
    }
}

extension DisconnectReason {
    /// The same end as the host on the other side sees it.
    var mirrored: DisconnectReason {
        switch self {
        case .local, .unknown: .remote
        case .remote: .unknown
        case .timeout, .authentication: self
        }
    }
}
