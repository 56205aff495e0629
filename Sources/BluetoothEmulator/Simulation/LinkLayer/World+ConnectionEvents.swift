import BluetoothBackend
import BluetoothSupport

// The content of connection events: everything that a side sends on a physical link shares its packets.
extension World {
    /// Returns the number of packets that a side sends at a time on a link without a connection interval, where packets
    /// take no time; nil on any other link.
    func packetsWithoutInterval(on ref: Ref<Link>) -> Int? {
        guard let timing = links[ref]?.timing.packets, timing.eventLength == 0 else { return nil }
        return timing.maximumPackets
    }

    /// Begins a connection event of a link.
    ///
    /// - Returns: Whether the sender goes first; if not, it has another turn in the same event.
    mutating func beginEvent(for sender: ConnectionEventPackets.Sender, by side: LinkSide, on ref: Ref<Link>) -> Bool {
        guard let (first, timing) = earlierLink(ref) else {
            return links[ref]?.timing.beginEvent(for: sender, by: side, at: context.now) ?? true
        }
        return links[first]?.timing.beginEvent(for: sender, by: side.other, at: context.now, timing) ?? true
    }

    /// Sends an ATT PDU, or the rest of it, as far as it fits into the present connection event.
    ///
    /// - Returns: The number of bytes sent so far; nil if the PDU is complete.
    mutating func sendATT(
        _ length: Int, from offset: Int, by side: LinkSide, on ref: Ref<Link>
    ) -> Int? {
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
        guard let (first, timing) = earlierLink(ref), let level = links[ref]?.security.level else {
            return links[ref]?.send(length, from: offset, of: sender, by: side) ?? length
        }
        return links[first]?.timing.event.send(
            length, from: offset, of: sender, by: side.other, timing, isEncrypted: level != .plain) ?? length
    }

    /// Returns the additional time of ATT PDUs that are too long for one connection event each.
    func additionalTime(ofATT lengths: [Int], on ref: Ref<Link>) -> Nanoseconds {
        guard let link = links[ref], link.timing.interval > 0 else { return 0 }
        let events = lengths.reduce(0) {
            $0 + link.timing.packets.additionalEvents(forATT: $1, isEncrypted: link.security.level != .plain)
        }
        return Nanoseconds(events) * link.timing.interval
    }

    /// Returns the earlier of two links between the same hosts, which counts the packets of both directions, and the
    /// later link's packet timing; nil for a link that is the earlier or the only one.
    private func earlierLink(_ ref: Ref<Link>) -> (Ref<Link>, PacketTiming)? {
        guard let other = links[ref]?.other, other < ref, let timing = links[ref]?.timing.packets else { return nil }
        return (other, timing)
    }
}
