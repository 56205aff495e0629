#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The characteristics of a link that this process is subscribed to.
///
/// Pure.
struct LinkSubscriptions: Sendable {
    /// A subscription to a characteristic.
    struct Subscription: Sendable {
        let attribute: AttributeID
        var source: Source

        /// The socket, if the values arrive on one.
        var socket: LinkSocketID? { if case .socket(let socket) = source { socket } else { nil } }
    }

    /// The source of the values of a subscription.
    enum Source: Equatable, Sendable {
        /// Signals on the bus, after `StartNotify`.
        case signals
        /// A call of `AcquireNotify` in flight.
        case acquiring
        /// A socket.
        case socket(LinkSocketID)
        /// A socket that the daemon closed, perhaps because the link is ending.
        case closedSocket
    }

    private var subscriptions: [ObjectPath: Subscription] = [:]
    /// Characteristics whose notification socket this process closed, which the daemon may not have noticed.
    var releasedSockets: Set<ObjectPath> = []

    subscript(path: ObjectPath) -> Subscription? {
        get { subscriptions[path] }
        set { subscriptions[path] = newValue }
    }

    /// The subscriptions, in the order of their paths.
    var sorted: [(path: ObjectPath, subscription: Subscription)] {
        subscriptions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The open sockets.
    var sockets: [LinkSocketID] { subscriptions.values.compactMap(\.socket) }

    /// Returns the subscription whose values arrive on a socket.
    func onSocket(_ socket: LinkSocketID) -> (path: ObjectPath, subscription: Subscription)? {
        subscriptions.first { $0.value.socket == socket }.map { ($0.key, $0.value) }
    }

    mutating func remove(_ path: ObjectPath) -> Subscription? { subscriptions.removeValue(forKey: path) }

    mutating func removeAll() { subscriptions = [:] }
}
#endif
