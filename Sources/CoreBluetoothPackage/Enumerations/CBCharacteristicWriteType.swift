/// How a characteristic's value is written.
///
/// Source: Apple, CBCharacteristicWriteType.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBCharacteristicWriteType: Int, Sendable {
    /// With an answer from the peer (ATT Write Request; longer values in parts).
    case withResponse = 0
    /// Without an answer (ATT Write Command).
    case withoutResponse = 1
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
