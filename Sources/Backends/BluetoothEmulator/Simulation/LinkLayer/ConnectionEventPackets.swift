import BluetoothBackend

/// The data packets of a link's present connection event.
///
/// The sides take turns with a pause after each packet, and a side without data sends an empty packet. One packet of
/// each side always fits. Source: Core Specification, Vol 6, Part B, 4.5.6.
struct ConnectionEventPackets: Sendable {
    /// A source of packets on one side of a link.
    enum Sender: Hashable, Sendable {
        case attributes
        case channel(ChannelID)
    }

    /// The packets that one side has sent.
    private struct Sent: Sendable {
        var packets = 0
        var airTime: Nanoseconds = 0
        var last: Sender?
        /// Whether another sender found no room.
        var isCrowded = false
        /// The sender that must let the others go first, because it left them no room in the previous event.
        var yielding: Sender?

        mutating func begin() {
            self = Sent(yielding: isCrowded ? last : nil)
        }
    }

    private var instant: Nanoseconds?
    private var central = Sent()
    private var peripheral = Sent()

    private subscript(side: LinkSide) -> Sent {
        _read {
            switch side {
            case .central: yield central
            case .peripheral: yield peripheral
            }
        }
        _modify {
            switch side {
            case .central: yield &central
            case .peripheral: yield &peripheral
            }
        }
    }

    /// Begins the connection event at an instant, unless it has begun; without a connection interval, always.
    ///
    /// - Returns: Whether the sender goes first; if not, it must let the others of its side go first, once per event.
    mutating func begin(for sender: Sender, by side: LinkSide, at now: Nanoseconds, _ timing: PacketTiming) -> Bool {
        if instant != now || timing.eventLength == 0 {
            instant = now
            central.begin()
            peripheral.begin()
        }
        guard self[side].yielding == sender else { return true }
        self[side].yielding = nil
        return false
    }

    /// Sends the bytes of a PDU from an offset, as many as fit.
    ///
    /// - Returns: The offset of the first unsent byte.
    mutating func send(
        _ length: Int, from offset: Int, of sender: Sender, by side: LinkSide, _ timing: PacketTiming,
        isEncrypted: Bool
    ) -> Int {
        if timing.eventLength == 0 { return sendWhole(length, by: side, timing) }
        var sent = offset
        while sent < length {
            let part = min(timing.dataLength, length - sent)
            let airTime = timing.airTime(of: part, isEncrypted: isEncrypted)
            guard hasRoom(for: airTime, by: side, timing) else { break }
            self[side].packets += 1
            self[side].airTime += airTime
            sent += part
        }
        if sent > offset { self[side].last = sender } else if self[side].last != sender { self[side].isCrowded = true }
        return sent
    }

    /// Sends a PDU as one packet, on a link without a connection interval.
    private mutating func sendWhole(_ length: Int, by side: LinkSide, _ timing: PacketTiming) -> Int {
        guard self[side].packets < timing.maximumPackets else { return 0 }
        self[side].packets += 1
        return length
    }

    private func hasRoom(for airTime: Nanoseconds, by side: LinkSide, _ timing: PacketTiming) -> Bool {
        let (own, other) = (self[side], self[side.other])
        guard own.packets > 0 else { return true }
        guard own.packets < timing.maximumPackets else { return false }
        let packets = own.packets + 1
        let empty = Nanoseconds(abs(packets - other.packets)) * timing.phy.nanoseconds(ofPayload: 0)
        let spaces = Nanoseconds(2 * max(packets, other.packets)) * PacketTiming.interFrameSpace
        return own.airTime + airTime + other.airTime + empty + spaces <= timing.eventLength
    }
}
