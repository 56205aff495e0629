import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// The links between hosts and devices: their connection events, their silence and their parameters.
///
/// Two hosts that connect to each other share a physical link: a pair of addresses has one (Core Specification, Vol 6,
/// Part B, 4.5). Here, each direction is a separate ``Link`` with its client and its server; the two refer to each
/// other and share the properties of the physical link.
struct LinkLayer: Sendable {
    private var links = SlotTable<Link>()

    /// All links, in the order of their creation.
    var refs: [Ref<Link>] { links.refs }

    /// The link; nil if it ended.
    subscript(ref: Ref<Link>) -> Link? {
        _read { yield links[ref] }
        _modify { yield &links[ref] }
    }

    mutating func insert(_ link: Link) -> Ref<Link> { links.insert(link) }

    func contains(_ ref: Ref<Link>) -> Bool { links.contains(ref) }

    /// Removes a link with its timeout.
    mutating func remove(_ ref: Ref<Link>, _ context: inout WorldContext) -> Link? {
        guard let link = links.remove(ref) else { return nil }
        if let other = link.other { links[other]?.other = nil }
        if let token = link.supervision.timeout { context.queue.cancel(token) }
        return link
    }

    /// The central of a link, as the device knows it.
    func central(of ref: Ref<Link>, _ hosts: Hosts) -> CentralIdentity {
        guard let link = links[ref] else {
            return CentralIdentity(host: "", address: DeviceAddress(bits: 0), mtu: ATTLimits.minimumMTU)
        }
        return CentralIdentity(
            host: hosts[link.host].identity.name, address: link.centralAddress ?? hosts[link.host].identity.address,
            mtu: link.mtu)
    }

    /// Returns the links of a host's peripheral role with a central.
    func serverLinks(of host: Host, with central: PeerID, _ air: Air) -> [Ref<Link>] {
        air.serverLinks(of: host).filter { links[$0]?.central == central }
    }

    /// The centrals that are connected to a host's peripheral role.
    func connectedCentrals(of host: Host, _ air: Air, _ hosts: Hosts) -> [ConnectedCentral] {
        air.serverLinks(of: host).compactMap { ref in
            guard let link = links[ref], let peer = link.central else { return nil }
            return ConnectedCentral(peer: peer, address: central(of: ref, hosts).address, mtu: link.mtu)
        }
    }

    /// Returns the first link of one of the hosts with a peer, in either role.
    func link(with peer: PeerID, in scope: [Int], _ air: Air, _ hosts: Hosts) -> (Ref<Link>, Link)? {
        for host in scope {
            let candidates = [hosts[host].links[peer]].compactMap { $0 } + serverLinks(of: hosts[host], with: peer, air)
            for ref in candidates { if let link = links[ref] { return (ref, link) } }
        }
        return nil
    }

    // MARK: Connection events

    /// Returns the first connection event of a link; now if the link has ended.
    func connectionEvent(of ref: Ref<Link>, from now: Nanoseconds) -> Nanoseconds {
        links[ref]?.timing.connectionEvent(from: now) ?? now
    }

    /// Returns the number of packets that a side sends at a time on a link without a connection interval, where packets
    /// take no time; nil on any other link.
    func packetsWithoutInterval(on ref: Ref<Link>) -> Int? {
        links[ref]?.timing.packetsWithoutInterval
    }

    /// Begins a connection event of a link.
    ///
    /// - Returns: Whether the sender goes first; if not, it has another turn in the same event.
    mutating func beginEvent(
        for sender: ConnectionEventPackets.Sender, by side: LinkSide, on ref: Ref<Link>, at now: Nanoseconds
    ) -> Bool {
        guard let (first, later) = earlierLink(ref) else {
            return links[ref]?.timing.beginEvent(for: sender, by: side, at: now) ?? true
        }
        return links[first]?.timing.beginEvent(for: sender, by: side.other, at: now, later.timing) ?? true
    }

    /// Sends an ATT PDU, or the rest of it, as far as it fits into the present connection event.
    ///
    /// - Returns: The number of bytes sent so far; nil if the PDU is complete.
    mutating func sendATT(_ length: Int, from offset: Int, by side: LinkSide, on ref: Ref<Link>) -> Int? {
        let length = length + PacketTiming.headerLength
        let sent = send(length, from: offset, of: .attributes, by: side, on: ref)
        return sent < length ? sent : nil
    }

    /// Sends bytes, as many as fit into the present connection event.
    ///
    /// - Returns: The offset of the first unsent byte.
    mutating func send(
        _ length: Int, from offset: Int = 0, of sender: ConnectionEventPackets.Sender, by side: LinkSide,
        on ref: Ref<Link>
    ) -> Int {
        guard let (first, later) = earlierLink(ref) else {
            return links[ref]?.send(length, from: offset, of: sender, by: side) ?? length
        }
        return links[first]?.timing.event.send(
            length, from: offset, of: sender, by: side.other, later.timing, isEncrypted: later.isEncrypted) ?? length
    }

    /// Returns the earlier of two links between the same hosts, which counts the packets of both directions, and the
    /// later link's packets; nil for a link that is the earlier or the only one.
    private func earlierLink(_ ref: Ref<Link>) -> (Ref<Link>, later: (timing: PacketTiming, isEncrypted: Bool))? {
        links[ref]?.earlier(than: ref)
    }

    /// Returns the additional time of ATT PDUs that are too long for one connection event each.
    func additionalTime(ofATT lengths: [Int], on ref: Ref<Link>) -> Nanoseconds {
        links[ref]?.additionalTime(ofATT: lengths) ?? 0
    }

    // MARK: Losses and silence

    /// Draws the time that lost packets add to a number of round trips on a link.
    ///
    /// If consecutive losses last as long as the supervision timeout, the link falls silent. Without latency, no packet
    /// is lost.
    mutating func retransmissionTime(
        _ roundTrips: Int = 1, on ref: Ref<Link>, _ air: inout Air, _ context: inout WorldContext
    ) -> Nanoseconds {
        guard air.isLossy, let (device, timing) = links[ref]?.deviceAndTiming, timing.interval > 0 else { return 0 }
        let rate = max(context.configuration.packetLossRate, air.devices[device]?.signal.packetLossRate ?? 0)
        guard rate > 0 else { return 0 }
        let (time, isLost) = air.retransmissionTime(roundTrips, lossRate: rate, timing)
        if time > 0 {
            let count = Int(time / timing.interval)
            context.trace.log(.losses(count), of: air.devices[device]?.description.name, at: context.now)
            if context.tapped.contains(.links) { context.report(.packetsLost(link: ref.serial, count: count)) }
        }
        if isLost { lose(ref, &context) }
        return time
    }

    /// Makes a link silent that the device has lost.
    mutating func lose(_ ref: Ref<Link>, _ context: inout WorldContext) {
        fallSilent(ref, &context)
        links[ref]?.supervision.isLost = true
    }

    /// Makes a link silent: no packet arrives, and the link ends unless the device returns in time.
    mutating func fallSilent(_ ref: Ref<Link>, _ context: inout WorldContext) {
        guard let other = links[ref]?.fallSilent(ref, &context) else { return }
        fallSilent(other, &context)
    }

    /// Ends a silence, if the device has not lost the link.
    mutating func hearAgain(_ ref: Ref<Link>, _ context: inout WorldContext) {
        guard let other = links[ref]?.hearAgain(&context) else { return }
        hearAgain(other, &context)
    }

    /// Defers an event of a silent link.
    ///
    /// - Returns: Whether the link is silent.
    mutating func isMissed(_ event: WorldEvent, on ref: Ref<Link>) -> Bool {
        links[ref]?.supervision.misses(event) == true
    }

    // MARK: Parameters

    /// Sets the time that devices need for their answers.
    mutating func setDelays(_ delays: ProcedureDelays) { for ref in refs { links[ref]?.timing.delays = delays } }

    /// Requests another interval as the server: a quarter of the usual one, the usual one, or four times that.
    mutating func setLatency(
        _ latency: ConnectionLatency, for central: PeerID, at host: Host, _ air: Air, _ context: inout WorldContext
    ) {
        guard let ref = serverLinks(of: host, with: central, air).first, let link = links[ref] else { return }
        let usual = context.configuration.connectionInterval.nanoseconds
        let wanted: Nanoseconds =
            switch latency {
            case .low: usual / 4
            case .medium: usual
            case .high: usual * 4
            }
        // The range of LE connection intervals; zero means no latency.
        let interval = usual == 0 ? 0 : min(4_000_000_000, max(7_500_000, wanted))
        guard interval != link.timing.interval else { return }
        let parameters = ConnectionParameters(
            interval: .nanoseconds(interval), peripheralLatency: link.timing.latency,
            supervisionTimeout: .nanoseconds(link.timing.supervisionTimeout))
        update(parameters, ref, &context)
    }

    /// Requests other parameters of a link as the device; a central grants them.
    ///
    /// They are in force after six connection events (Core Specification, Vol 6, Part B, 5.1.1).
    mutating func update(_ parameters: ConnectionParameters, _ ref: Ref<Link>, _ context: inout WorldContext) {
        guard let due = links[ref]?.request(parameters, at: context.now) else { return }
        context.queue.schedule(.changeParameters(ref), at: due)
    }

    mutating func changeParameters(of ref: Ref<Link>, _ context: inout WorldContext) {
        guard !isMissed(.changeParameters(ref), on: ref), links[ref]?.changeParameters(at: context.now) == true else {
            return
        }
        share(ref)
        guard context.tapped.contains(.links) else { return }
        for (ref, link) in directions(of: ref) {
            context.report(.parametersChanged(link: ref.serial, link.timing.parameters))
        }
    }

    // MARK: Shared links

    /// A link, and the other direction of its physical link.
    func directions(of ref: Ref<Link>) -> [(ref: Ref<Link>, link: Link)] {
        [ref, links[ref]?.other].compactMap { ref in ref.flatMap { ref in links[ref].map { (ref, $0) } } }
    }

    /// Shares the properties of the physical link with the existing link.
    mutating func join(_ ref: Ref<Link>, to existing: Ref<Link>, _ context: inout WorldContext) {
        guard let link = links[existing] else { return }
        links[existing]?.other = ref
        links[ref]?.share(link, existing)
        if link.supervision.isSilent { fallSilent(ref, &context) }
    }

    /// Copies a link's security and parameters to its other direction.
    mutating func share(_ ref: Ref<Link>) {
        guard let link = links[ref], let other = link.other else { return }
        links[other]?.follow(link)
    }

    /// Ends one direction.
    ///
    /// - Returns: The other direction if it ends too: always, except after a local end while a manager needs it.
    mutating func part(_ ref: Ref<Link>, reason: DisconnectReason) -> Ref<Link>? {
        guard let other = links[ref]?.takeOther(), let isClosing = links[other]?.isClosing else { return nil }
        links[other]?.other = nil
        return reason != .local || isClosing ? other : nil
    }

    /// Returns the link to this host from the host behind a device; nil if there is no such link.
    func reverseLink(to ref: Ref<Device>, from host: Int, _ air: Air, _ hosts: Hosts) -> Ref<Link>? {
        guard let other = air.devices[ref]?.host, let server = hosts[host].server else { return nil }
        return hosts[other].links.values.sorted().first { link in
            links[link].map { $0.device == server && !$0.isClosing && !$0.supervision.isLost } ?? false
        }
    }

    // MARK: Ending

    /// Schedules the end of a link that its host ends.
    mutating func scheduleLocalClose(_ ref: Ref<Link>, _ context: inout WorldContext) {
        guard links[ref]?.beginClosing() == true else { return }
        context.queue.schedule(.localClose(ref), at: context.now + disconnectionTime(of: ref, context.configuration))
    }

    /// The time that ending a link takes for this host: at least one connection event, in which the device acknowledges
    /// it.
    ///
    /// Source: Core Specification, Vol 6, Part B, 5.1.6.
    func disconnectionTime(of ref: Ref<Link>, _ configuration: EmulatorConfiguration) -> Nanoseconds {
        max(configuration.disconnectionDelay.nanoseconds, links[ref]?.timing.interval ?? 0)
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

    /// The reason from the point of view of the other side.
    var ofOtherSide: DisconnectReason {
        switch self {
        case .local: .remote
        case .remote: .local
        case .timeout, .authentication, .unknown: self
        }
    }
}
