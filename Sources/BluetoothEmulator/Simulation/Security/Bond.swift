import BluetoothBackend

/// What one side keeps of a pairing.
struct Bond: Sendable {
    /// Stands for the long-term key: the same on both sides, while both have it.
    let key: UInt64
    /// Somebody compared, or the data came out of band.
    let isAuthenticated: Bool
    /// Under which identifier the other side is known, also under a new address.
    let peer: PeerID
    /// As a server: what the other side was subscribed to when its link ended.
    var subscriptions: [AttributeID: Link.Subscription] = [:]
    /// As a server: the services that the other side knows.
    var services: [AttributeID] = []
    /// As a client: the other side's database as it was when the link ended.
    var cache: AttributeDatabase?

    init(key: UInt64, isAuthenticated: Bool, peer: PeerID) {
        self.key = key
        self.isAuthenticated = isAuthenticated
        self.peer = peer
    }

    /// How far a link is secured that both sides encrypt with this.
    var security: LinkSecurity { isAuthenticated ? .authenticated : .encrypted }
}
