/// How a characteristic's value is written.
///
/// Source: Apple, CBCharacteristicWriteType.
public enum CBCharacteristicWriteType: Int, Sendable {
    /// With an answer from the peer (ATT Write Request; longer values in parts).
    case withResponse = 0
    /// Without an answer (ATT Write Command).
    case withoutResponse = 1
}
