import BluetoothBackend
import BluetoothSupport

// What a connection event carries: all that a side sends on a physical link shares its packets.
extension World {
    /// Begins a connection event of a link.
    ///
    /// - Returns: Whether the sender goes first; if not, it gets another turn in the same event.
    mutating func beginEvent(for sender: ConnectionEventPackets.Sender, by side: LinkSide, on ref: Ref<Link>) -> Bool {
        guard let timing = links[ref]?.timing.packets else { return true }
        let ((link, side), present) = (physical(ref, side), now)
        links[link]?.timing.event.begin(at: present, timing)
        return links[link]?.timing.event.yields(sender, by: side) != true
    }

    /// Sends a PDU of ATT, or the rest of it, as far as the present connection event has room.
    ///
    /// - Returns: The number of its bytes that are sent; nil when that is all.
    mutating func sendATT(
        _ length: Int, from offset: Int, by side: LinkSide, on ref: Ref<Link>
    ) -> Int? {
        let length = length + PacketTiming.headerLength
        let sent = send(length, from: offset, of: .attributes, by: side, on: ref)
        return sent < length ? sent : nil
    }

    /// Sends bytes, as many as the present connection event has room for.
    ///
    /// - Returns: The offset of the first byte that is not sent.
    mutating func send(
        _ length: Int, from offset: Int = 0, of sender: ConnectionEventPackets.Sender, by side: LinkSide,
        on ref: Ref<Link>
    ) -> Int {
        guard let timing = links[ref]?.timing.packets, let level = links[ref]?.security.level else { return length }
        let (link, side) = physical(ref, side)
        return links[link]?.timing.event.send(
            length, from: offset, of: sender, by: side, timing, isEncrypted: level != .plain) ?? length
    }

    /// The additional time of ATT PDUs that are too long for one connection event each.
    func additionalTime(ofATT lengths: [Int], on ref: Ref<Link>) -> Nanoseconds {
        guard let link = links[ref], link.timing.interval > 0 else { return 0 }
        let events = lengths.reduce(0) {
            $0 + link.timing.packets.additionalEvents(forATT: $1, isEncrypted: link.security.level != .plain)
        }
        return Nanoseconds(events) * link.timing.interval
    }

    /// The link and the side where the packets of a physical link are counted: where two hosts connected to each other,
    /// those of the earlier link.
    private func physical(_ ref: Ref<Link>, _ side: LinkSide) -> (Ref<Link>, LinkSide) {
        guard let other = links[ref]?.other, other < ref else { return (ref, side) }
        return (other, side.other)
    }
}
