/// The times at which the packets of one advertising event are on the air, on the channels 37, 38 and 39 in this order.
///
/// Source: Core Specification, Vol 6, Part B, 2.1, 2.3.1, 2.3.4.1 and 4.4.2.
struct AdvertisingEventTiming: Hashable, Sendable {
    /// The number of primary advertising channels.
    static let channels = 3
    /// The length of the advertiser's address in a legacy packet, in bytes.
    static let addressLength = 6
    /// The length of the flags that a connectable set adds to its data, in bytes.
    static let flagsLength = 3
    /// The payload of an ADV_EXT_IND that points to its data, in bytes: the length of the header, its flags, the data's
    /// identifier and the pointer.
    static let extendedPayload = 1 + 1 + 2 + 3
    /// The time that a scannable packet leaves for a SCAN_REQ and the pause before it.
    static let requestTime = PacketTiming.interFrameSpace + PHY.le1M.nanoseconds(ofPayload: 2 * addressLength)

    /// The time that each packet is on the air.
    let airtime: Nanoseconds
    /// The time from the start of a packet to the start of the next.
    let spacing: Nanoseconds

    /// Computes the packets of a set; its data is in each legacy packet, or on another channel if the set is extended.
    init(_ set: AdvertisingDescription) {
        let flags = set.isConnectable ? Self.flagsLength : 0
        let payload =
            set.isExtended ? Self.extendedPayload : Self.addressLength + flags + set.data.encodedLength
        let isAnswered = !set.isExtended && (set.isConnectable || set.scanResponse != nil)
        airtime = PHY.le1M.nanoseconds(ofPayload: payload)
        spacing = airtime + PacketTiming.interFrameSpace + (isAnswered ? Self.requestTime : 0)
    }

    /// The time from the start of the first packet to the end of the last.
    var duration: Nanoseconds { Nanoseconds(Self.channels - 1) * spacing + airtime }

    /// Returns the time range of an event's packet on a channel, 0...2.
    func packet(on channel: Int, from start: Nanoseconds) -> Range<Nanoseconds> {
        let begin = start + Nanoseconds(channel) * spacing
        return begin..<(begin + airtime)
    }
}
