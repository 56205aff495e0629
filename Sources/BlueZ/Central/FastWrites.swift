#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule
import FoundationEssentials

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
        /// It is ``FastWrites/open``.
        case socket
        /// The daemon refuses, or the socket was given back: the bus it is, until the link ends.
        case bus
    }

    /// A characteristic's socket.
    struct OpenSocket: Sendable {
        let path: ObjectPath
        let attribute: AttributeID
        let id: LinkSocketID
        /// The most bytes of a packet.
        ///
        /// BlueZ pitfall: a longer one is cut (https://github.com/bluez/bluez/issues/1466).
        let limit: Int

        /// Whether a value can go over it.
        ///
        /// BlueZ pitfall: an empty packet makes the daemon stop reading.
        func takes(_ value: Data) -> Bool { !value.isEmpty && value.count <= limit }
    }

    /// How many commands make a socket worth its while.
    static let worthwhile = 8

    private var routes: [ObjectPath: Route] = [:]
    /// The characteristic with a socket.
    private(set) var open: OpenSocket?
    /// What was given to the socket and not taken, in order.
    var unsent: Deque<LinkState.Operation> = []
    /// Something was sent that the daemon may not have read.
    var isUndrained = false
    /// That is being waited for.
    var isDraining = false

    /// A socket was given back, and the daemon may not have noticed.
    var isGoingBack = false

    subscript(path: ObjectPath) -> Route {
        get { routes[path] ?? .calls(0) }
        set { routes[path] = newValue }
    }

    /// The daemon has given a socket.
    mutating func opened(_ socket: OpenSocket) {
        open = socket
        self[socket.path] = .socket
    }

    /// Notes a command that goes over the open socket.
    ///
    /// - Returns: The socket; nil where the value does not fit, or there is no socket.
    mutating func send(_ operation: LinkState.Operation, _ value: Data) -> LinkSocketID? {
        guard let open, open.takes(value) else { return nil }
        unsent.append(operation)
        isUndrained = true
        return open.id
    }

    /// Notes that the socket has taken so many commands.
    ///
    /// - Returns: The credits to give back, those of commands that follow each other together.
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

    /// The daemon has read what was sent.
    mutating func drained() {
        isUndrained = false
        isDraining = false
    }

    /// The socket is given back.
    mutating func giveBack() {
        if let open { self[open.path] = .bus }
        open = nil
        isGoingBack = true
        drained()
    }

    /// A characteristic is gone, and its socket was given back.
    ///
    /// - Returns: What the socket had not taken.
    mutating func removed(_ path: ObjectPath, _ attribute: AttributeID) -> [LinkState.Operation] {
        routes[path] = nil
        let lost = unsent.filter { $0.command.valueAttribute == attribute }
        unsent.removeAll { $0.command.valueAttribute == attribute }
        return Array(lost)
    }

    /// Whether the next command is worth a socket.
    func isWorthAcquiring(_ path: ObjectPath) -> Bool {
        guard case .calls(let count) = self[path], count >= Self.worthwhile else { return false }
        return open == nil && !routes.values.contains { if case .acquiring = $0 { true } else { false } }
    }
}
#endif
