import BluetoothBackend
import BluetoothValues

/// The keys that one side keeps from a pairing, and its state of the other side.
struct Bond: Sendable {
    /// Represents the long-term key; equal on both sides while both have it.
    let key: UInt64
    /// Whether the users compared the numbers, or the data was exchanged out of band.
    let isAuthenticated: Bool
    /// The identifier of the other side, which survives a new address.
    let peer: PeerID
    /// For a server: the other side's subscriptions when its link ended.
    var subscriptions: [AttributeID: LinkServer.Subscription] = [:]
    /// For a server: the services that the other side knows.
    var services: [AttributeID] = []
    /// For a client: the other side's database when the link ended.
    var cache: AttributeDatabase?

    /// The security of a link that both sides encrypt with this key.
    var security: SecurityLevel { isAuthenticated ? .authenticated : .encrypted }
}
