#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// Where the write commands of a link go.
///
/// Pure. At most one characteristic of a link has a socket.
struct FastWrites: Sendable {
    /// What is known of a characteristic.
    enum Route: Equatable, Sendable {
        /// So many commands went over the bus.
        case calls(Int)
        /// This call of `AcquireWrite` is under way.
        case acquiring(CallID)
        case socket(WriteSocketID, limit: Int)
        /// The daemon refuses, or the socket was given back: the bus it is, until the link ends.
        case bus
    }

    /// How many commands make a socket worth its while.
    static let worthwhile = 8

    private var routes: [ObjectPath: Route] = [:]
    /// What was given to the socket and not taken, in order.
    var unsent: Deque<LinkState.Operation> = []
    /// Something was sent that the daemon may not have read.
    var isUndrained = false
    /// That is being waited for.
    var isDraining = false

    /// A socket was given back, and the daemon may not have noticed.
    var isGoingBack = false

    /// The characteristic with a socket.
    var open: (path: ObjectPath, socket: WriteSocketID)? {
        for case (let path, .socket(let id, _)) in routes { return (path, id) }
        return nil
    }

    subscript(path: ObjectPath) -> Route {
        get { routes[path] ?? .calls(0) }
        set { routes[path] = newValue }
    }

    /// The daemon has read what was sent.
    mutating func drained() {
        isUndrained = false
        isDraining = false
    }

    /// The socket is given back.
    mutating func giveBack(_ path: ObjectPath) {
        self[path] = .bus
        isGoingBack = true
        drained()
    }

    /// Whether the next command is worth a socket.
    func isWorthAcquiring(_ path: ObjectPath) -> Bool {
        guard case .calls(let count) = self[path], count >= Self.worthwhile else { return false }
        return open == nil && !routes.values.contains { if case .acquiring = $0 { true } else { false } }
    }
}

/// A socket for write commands.
struct WriteSocketID: Hashable, Sendable {
    let number: UInt64
}
#endif
