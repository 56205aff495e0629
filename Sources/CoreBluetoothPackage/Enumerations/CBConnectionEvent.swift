/// What happened to a device of the system.
///
/// Source: Apple, CBConnectionEvent.
public enum CBConnectionEvent: Int, Sendable {
    /// It disconnected from the system.
    case peerDisconnected = 0
    /// It connected to the system.
    case peerConnected = 1
}
