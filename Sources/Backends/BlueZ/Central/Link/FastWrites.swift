#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule
import FoundationEssentials

/// The routes of a link's write commands.
///
/// Pure. At most one characteristic of a link has a socket.
struct FastWrites: Sendable {
    /// The route to a characteristic.
    enum Route: Equatable, Sendable {
        /// The bus, over which this number of commands was sent.
        case calls(Int)
        /// The bus, until the reply of this call of `AcquireWrite`.
        case acquiring(CallID)
        /// The socket ``FastWrites/open``.
        case socket
        /// The bus until the link ends, because the daemon refused a socket, or the socket was given back.
        case bus
    }

    /// A characteristic's socket.
    struct OpenSocket: Sendable {
        let path: ObjectPath
        let attribute: AttributeID
        let id: LinkSocketID
        /// The longest packet, in bytes.
        ///
        /// BlueZ pitfall: a longer packet is truncated (https://github.com/bluez/bluez/issues/1466).
        let limit: Int

        /// Whether a value can be sent on the socket.
        ///
        /// BlueZ pitfall: an empty packet makes the daemon stop reading.
        func takes(_ value: Data) -> Bool { !value.isEmpty && value.count <= limit }
    }

    /// The number of commands from which a socket pays off.
    static let worthwhile = 8

    private var routes: [ObjectPath: Route] = [:]
    /// The socket, and its characteristic.
    private(set) var open: OpenSocket?
    /// The commands that the socket has not accepted yet, in order.
    var unsent: Deque<CentralLink.Operation> = []
    /// Whether the daemon may not have read everything that was sent.
    var isUndrained = false
    /// Whether an operation waits until the daemon has read everything.
    var isDraining = false

    /// Whether a socket was given back and the daemon may not have noticed.
    var isGoingBack = false

    subscript(path: ObjectPath) -> Route {
        get { routes[path] ?? .calls(0) }
        set { routes[path] = newValue }
    }

    /// Records that the daemon has provided a socket.
    mutating func opened(_ socket: OpenSocket) {
        open = socket
        self[socket.path] = .socket
    }

    /// Records a command that is sent over the open socket.
    ///
    /// - Returns: The socket; nil if the value does not fit, or no socket is open.
    mutating func send(_ operation: CentralLink.Operation, _ value: Data) -> LinkSocketID? {
        guard let open, open.takes(value) else { return nil }
        unsent.append(operation)
        isUndrained = true
        return open.id
    }

    /// Records that the socket has accepted `count` commands.
    ///
    /// - Returns: The credits to return, merged for consecutive commands of one link.
    mutating func sent(_ count: Int) -> [(manager: HostLedger.Manager, link: LinkID, count: Int)] {
        var credits: [(manager: HostLedger.Manager, link: LinkID, count: Int)] = []
        for operation in unsent.prefix(count) {
            if let last = credits.last, last.link == operation.link {
                credits[credits.count - 1].count += 1
            } else {
                credits.append((operation.manager, operation.link, 1))
            }
        }
        unsent.removeFirst(min(count, unsent.count))
        return credits
    }

    /// Records that the daemon has read everything that was sent.
    mutating func drained() {
        isUndrained = false
        isDraining = false
    }

    /// Records that the socket is given back.
    mutating func giveBack() {
        if let open { self[open.path] = .bus }
        open = nil
        isGoingBack = true
        drained()
    }

    /// Removes a characteristic that is gone, and whose socket was given back.
    ///
    /// - Returns: The operations that the socket had not accepted.
    mutating func removed(_ path: ObjectPath, _ attribute: AttributeID) -> [CentralLink.Operation] {
        routes[path] = nil
        let lost = unsent.filter { $0.command.attribute == attribute }
        unsent.removeAll { $0.command.attribute == attribute }
        return Array(lost)
    }

    /// Whether the next command to a characteristic should acquire a socket.
    func isWorthAcquiring(_ path: ObjectPath) -> Bool {
        guard case .calls(let count) = self[path], count >= Self.worthwhile else { return false }
        return open == nil && !routes.values.contains { if case .acquiring = $0 { true } else { false } }
    }
}
#endif
