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

    var entries: some Sequence<SlotTable<Link>.Entry> { links.entries }

    /// The link; nil if it ended.
    subscript(ref: Ref<Link>) -> Link? {
        _read { yield links[ref] }
        _modify { yield &links[ref] }
    }

    /// Adds a link; it shares the physical link of an existing one in the other direction, if there is one.
    mutating func insert(_ link: Link, sharing existing: Ref<Link>?, _ context: inout WorldContext) -> Ref<Link> {
        guard let existing, let other = links[existing] else { return links.insert(link) }
        var link = link
        (link.other, link.timing, link.mtu) = (existing, other.timing, other.mtu)
        let ref = links.insert(link)
        links[existing]?.other = ref
        if other.supervision.isSilent { fallSilent(ref, &context) }
        return ref
    }

    /// Removes a link with its timeout.
    mutating func remove(_ ref: Ref<Link>, _ context: inout WorldContext) -> Link? {
        _ = separate(ref)
        guard let link = links.remove(ref) else { return nil }
        if let token = link.supervision.timeout { context.queue.cancel(token) }
        return link
    }

    /// The links of a host's peripheral role, or those with a central.
    func serverLinks(of host: Host, with central: PeerID? = nil, _ air: Air) -> [SlotTable<Link>.Entry] {
        links.entries(of: air.serverLinks(of: host)).filter { central == nil || $0.element.central == central }
    }

    /// The centrals that are connected to a host's peripheral role.
    func connectedCentrals(of host: Host, _ air: Air, _ hosts: Hosts) -> [ConnectedCentral] {
        serverLinks(of: host, air).compactMap { _, link in
            link.central.map {
                ConnectedCentral(peer: $0, address: link.centralIdentity(hosts).address, mtu: link.mtu)
            }
        }
    }

    /// Returns the first link of one of the hosts with a peer, in either role.
    func link(with peer: PeerID, in scope: [Int], _ air: Air, _ hosts: Hosts) -> SlotTable<Link>.Entry? {
        for host in scope {
            if let ref = hosts[host].links[peer], let link = links[ref] { return (ref, link) }
            if let found = serverLinks(of: hosts[host], with: peer, air).first { return found }
        }
        return nil
    }

    // MARK: Connection events

    /// Begins a transmission with the present connection event of a link.
    ///
    /// - Returns: nil if the sender does not send now: the link has ended or is silent, or other senders go first.
    mutating func beginTransmission(
        _ event: WorldEvent, of sender: ConnectionEventPackets.Sender, by side: LinkSide, on ref: Ref<Link>,
        _ context: inout WorldContext
    ) -> PacketTiming? {
        guard !isMissed(event, on: ref), let packets = packets(on: ref, by: side) else { return nil }
        guard
            links[packets.counter]?.timing.event.begin(
                for: sender, by: packets.side, at: context.now, packets.timing) != false
        else {
            context.queue.schedule(event, at: context.now)
            return nil
        }
        return packets.timing
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
        guard let packets = packets(on: ref, by: side) else { return length }
        return links[packets.counter]?.timing.event.send(
            length, from: offset, of: sender, by: packets.side, packets.timing, isEncrypted: packets.isEncrypted)
            ?? length
    }

    private func packets(on ref: Ref<Link>, by side: LinkSide) -> Link.Packets? { links[ref]?.packets(ref, by: side) }

    // MARK: Losses and silence

    /// Draws the time that lost packets add to a number of round trips on a link.
    ///
    /// If consecutive losses last as long as the supervision timeout, the link falls silent. Without latency, no packet
    /// is lost.
    mutating func retransmissionTime(
        _ roundTrips: Int = 1, on ref: Ref<Link>, _ link: Link, _ air: inout Air, _ context: inout WorldContext
    ) -> Nanoseconds {
        guard air.isLossy, link.timing.interval > 0 else { return 0 }
        let (time, isLost) = air.retransmissionTime(roundTrips, on: ref, link, &context)
        if isLost { fallSilent(ref, isLost: true, &context) }
        return time
    }

    /// Makes a link silent: no packet arrives, and the link ends unless the device returns in time.
    ///
    /// - Parameter isLost: Whether the device has lost the link, so that it does not return.
    mutating func fallSilent(_ ref: Ref<Link>, isLost: Bool = false, _ context: inout WorldContext) {
        guard let other = links[ref]?.fallSilent(ref, isLost: isLost, &context) else { return }
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
        guard let (ref, link) = serverLinks(of: host, with: central, air).first else { return }
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

    mutating func update(_ parameters: ConnectionParameters, _ ref: Ref<Link>, _ context: inout WorldContext) {
        links[ref]?.request(parameters, ref, &context)
    }

    mutating func changeParameters(of ref: Ref<Link>, _ context: inout WorldContext) {
        guard links[ref]?.changeParameters(ref, at: context.now) == true else { return }
        share(ref)
        guard context.tapped.contains(.links) else { return }
        for (ref, link) in directions(of: ref) {
            context.report(.parametersChanged(link: ref.serial, link.timing.parameters))
        }
    }

    // MARK: Shared links

    /// A link, and the other direction of its physical link.
    func directions(of ref: Ref<Link>) -> [SlotTable<Link>.Entry] {
        guard let link = links[ref] else { return [] }
        guard let other = link.other, let reverse = links[other] else { return [(ref, link)] }
        return [(ref, link), (other, reverse)]
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
        guard let (other, link) = separate(ref) else { return nil }
        return reason != .local || link.isClosing ? other : nil
    }

    /// Ends the relation of two directions.
    ///
    /// - Returns: The other direction.
    private mutating func separate(_ ref: Ref<Link>) -> SlotTable<Link>.Entry? {
        guard let other = links[ref]?.other.take(), let link = links[other] else { return nil }
        links[other]?.other = nil
        return (other, link)
    }

    /// Returns the link to a host from the host behind a device; nil if there is no such link.
    func reverseLink(to device: Device, from host: Int, _ hosts: Hosts) -> SlotTable<Link>.Entry? {
        guard let other = device.host, let server = hosts[host].server else { return nil }
        return links.entries(of: hosts[other].links.values.sorted()).first { _, link in
            link.device == server && !link.isClosing && !link.supervision.isLost
        }
    }

    // MARK: Ending

    /// Schedules the end of a link that its host or its device ends.
    mutating func close(
        _ ref: Ref<Link>, _ reason: DisconnectReason, with error: OpaqueError? = nil, _ context: inout WorldContext
    ) { links[ref]?.close(ref, reason, with: error, &context) }
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
