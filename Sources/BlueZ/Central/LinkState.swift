#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues
import DequeModule
import FoundationEssentials

/// A physical link: the operations of its holders, and its attributes.
///
/// Pure.
struct LinkState: Sendable {
    /// A command of one holder; one queue orders those of all holders.
    struct Operation: Sendable {
        let manager: HostLedger.Manager
        let link: LinkID
        let command: CentralCommand
        var retries = 0
        /// Whether `bluetoothd` provided no socket for the subscription, which therefore needs `StartNotify`.
        var needsSignals = false
    }

    /// A subscription of this process to a characteristic.
    struct Subscription: Sendable {
        /// The source of its values.
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

        let attribute: AttributeID
        var source: Source

        /// The socket, if the values arrive on one.
        var socket: LinkSocketID? { if case .socket(let socket) = source { socket } else { nil } }
    }

    /// A read in flight, and the last value that was signaled since.
    struct Read: Sendable {
        let path: ObjectPath
        var value: Data?
    }

    /// The progress of the link's end.
    struct Ending: Sendable {
        /// The reason why the link ends, if known.
        var reason: DisconnectReason?
        /// Whether the last holder released the link, or the link is ended because the peer is silent.
        var isClosing = false
        /// Whether the link is down and waits for an explanation; see ``BlueZTimings/powerLoss``.
        var isDown = false
        /// An operation failed because the link is lost; its response waits for the end of the link.
        var lost: (operation: Operation, error: BackendError)?
    }

    /// The progress of the discovery of services, which BlueZ performs by itself at each connection.
    struct Services: Sendable {
        /// Whether a timer waits for `ServicesResolved`.
        var areAwaitingResolution = false
        /// Whether a timer waits for the services that `ServicesResolved` announced.
        var areAwaited = false
        /// Whether a snapshot was requested because these services did not appear.
        var areRefreshing = false
        /// Whether that wait has ended: the known services are complete.
        var areFinal = false
        /// Whether services were delivered, so that changes are reported.
        var areDelivered = false
        /// Changes that wait to be delivered.
        var removed: [AttributeID] = []
        var added: [ObjectPath] = []
    }

    /// Whether a `Connect` of this process made the link; this process never ends a link of another program.
    ///
    /// BlueZ pitfall: links are shared and not counted (https://github.com/bluez/bluez/issues/89).
    let isOurs: Bool
    let path: ObjectPath
    /// BlueZ pitfall: attributes of an earlier link are stale (https://github.com/simpleble/simpleble/issues/490), so
    /// each link starts with an empty table.
    var attributes = AttributeTable()
    var waiting: Deque<Operation> = []
    var inFlight: [CallID: Operation] = [:]
    var mtu = ATTLimits.minimumMTU
    /// The characteristics that this process is subscribed to.
    var subscriptions: [ObjectPath: Subscription] = [:]
    /// Characteristics whose notification socket this process closed, which the daemon may not have noticed.
    var releasedSockets: Set<ObjectPath> = []
    /// The routes of write commands.
    var writes = FastWrites()
    /// The read in flight.
    var read: Read?
    var ending = Ending()
    var services = Services()

    /// The number of write commands that one holder may have pending at `bluetoothd`.
    ///
    /// A bus allows 128 pending calls per connection, for all links together.
    static let writeCredits = 16

    /// The next command to start, if the link accepts any.
    var next: Operation? { ending.isDown || ending.isClosing || ending.lost != nil ? nil : waiting.first }

    /// Sends a write command over its characteristic's socket if nothing must precede it: the usual case.
    ///
    /// - Returns: The socket; nil if the command must wait.
    mutating func sendAtOnce(_ operation: Operation, _ attribute: AttributeID, _ value: Data) -> LinkSocketID? {
        guard writes.open?.attribute == attribute, attributes.path(of: attribute) != nil, waiting.isEmpty, mayWriteOn,
            !ending.isDown, !ending.isClosing, ending.lost == nil
        else { return nil }
        return writes.send(operation, value)
    }

    /// The open sockets for notifications.
    var notificationSockets: [LinkSocketID] { subscriptions.values.compactMap(\.socket) }

    /// Whether only write commands are in flight.
    var mayWriteOn: Bool { inFlight.values.allSatisfy(\.command.isWriteCommand) }
}

/// The numbers of a link's attributes: one per object, never reused.
struct AttributeTable: Sendable {
    private var paths: [AttributeID: ObjectPath] = [:]
    private var ids: [ObjectPath: AttributeID] = [:]
    private var last = AttributeID(rawValue: 0)

    /// Returns the attribute at a path, and numbers it at the first request.
    mutating func id(of path: ObjectPath) -> AttributeID {
        if let known = ids[path] { return known }
        last = last.next
        ids[path] = last
        paths[last] = path
        return last
    }

    /// Returns the attribute at a path, if it has a number.
    func knownID(of path: ObjectPath) -> AttributeID? { ids[path] }

    /// Returns the object of an attribute; nil once it is gone.
    func path(of id: AttributeID) -> ObjectPath? { paths[id] }

    /// Removes an object; a later object at the same path is a different attribute.
    mutating func remove(_ path: ObjectPath) -> AttributeID? {
        guard let id = ids.removeValue(forKey: path) else { return nil }
        paths[id] = nil
        return id
    }
}
#endif
