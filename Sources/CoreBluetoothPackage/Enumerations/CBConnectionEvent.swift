/// What happened to a device of the system.
///
/// Source: Apple, CBConnectionEvent.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBConnectionEvent: Int, Sendable {
    /// It disconnected from the system.
    case peerDisconnected = 0
    /// It connected to the system.
    case peerConnected = 1
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
