import BluetoothBackend

/// One manager of an app, as its host knows it.
struct Manager: Sendable {
    enum Role: Sendable {
        case central
        case peripheral
        case pairing
    }

    /// A manager's share of a physical link.
    struct Share: Sendable {
        let link: Ref<Link>
        /// How many write commands it may send.
        var credits: Int
    }

    let role: Role
    /// Its host's index; nil if it asked for a host that is not there.
    let host: Int?
    /// The state that it was told last; nil before the first.
    var toldState: AdapterState?
    var shares: [LinkID: Share] = [:]
    var connectionEventFilter: ConnectionEventFilter?
}
