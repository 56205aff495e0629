/// How a manager stands to a peripheral.
///
/// Source: Apple, CBPeripheralState.
public enum CBPeripheralState: Int, Sendable {
    /// No link, and none wanted.
    case disconnected = 0
    /// A link is wanted.
    case connecting = 1
    /// The link is up.
    case connected = 2
    /// The link is being closed.
    case disconnecting = 3
}
