/// Which connection interval the peripheral role asks for.
///
/// Source: Apple, CBPeripheralManagerConnectionLatency.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
    /// Quick exchanges over battery life.
    case low = 0
    /// A balance of both.
    case medium = 1
    /// Battery life over quick exchanges.
    case high = 2
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
