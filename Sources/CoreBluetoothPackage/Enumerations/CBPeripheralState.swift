/// How a manager stands to a peripheral.
///
/// Source: Apple, CBPeripheralState.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBPeripheralState: Int, Sendable {
    /// No link, and none wanted.
    case disconnected = 0
    /// A link is wanted.
    case connecting = 1
    /// The link is up.
    case connected = 2
    /// The link is being closed.
    case disconnecting = 3
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
