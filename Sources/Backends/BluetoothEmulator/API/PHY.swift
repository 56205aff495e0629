/// A physical layer of LE, which determines how long a packet is on the air.
///
/// Source: Core Specification, Vol 6, Part B, 2.1 and 2.2.
public enum PHY: String, Hashable, Sendable, CaseIterable {
    /// One megabit per second; every device supports it.
    case le1M = "1M"
    /// Two megabits per second.
    case le2M = "2M"
    /// 500 kilobits per second, coded with two symbols for each bit.
    case leCodedS2 = "codedS2"
    /// 125 kilobits per second, coded with eight symbols for each bit.
    case leCodedS8 = "codedS8"

    /// The time that a packet is on the air: its preamble, access address, header, payload and CRC.
    ///
    /// - Parameter payload: The length of the payload in bytes, with the 4 bytes of the MIC on an encrypted link.
    public func airTime(ofPayload payload: Int) -> Duration { .nanoseconds(nanoseconds(ofPayload: payload)) }

    func nanoseconds(ofPayload payload: Int) -> Nanoseconds {
        // The header has 2 bytes, the CRC 3.
        let pdu = max(0, payload) + 5
        let microseconds =
            switch self {
            // 1 byte of preamble and 4 of access address, 8 us each.
            case .le1M: (5 + pdu) * 8
            // 2 bytes of preamble and 4 of access address, 4 us each.
            case .le2M: (6 + pdu) * 4
            // 80 us of preamble; with S=8, 256 us of access address, 16 of coding indicator and 24 of termination;
            // then the bits, and 3 more of termination, at 2 or 8 us each.
            case .leCodedS2: 376 + (pdu * 8 + 3) * 2
            case .leCodedS8: 376 + (pdu * 8 + 3) * 8
            }
        return Nanoseconds(microseconds) * 1_000
    }
}
