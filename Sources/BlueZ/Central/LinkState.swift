#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues
import DequeModule
import FoundationEssentials

/// A physical link: what its holders wait for, and what they know of its attributes.
///
/// Pure.
struct LinkState: Sendable {
    /// A command of one holder, in the order of all.
    struct Operation: Sendable {
        let manager: HostLedger.Manager
        let link: LinkID
        let command: CentralCommand
        var retries = 0
        /// Whether `bluetoothd` gave no socket for the subscription, which therefore needs `StartNotify`.
        var needsSignals = false
    }

    /// A subscription of this process to a characteristic.
    struct Subscription: Sendable {
        /// How its values arrive.
        enum Source: Equatable, Sendable {
            /// `StartNotify`: in signals on the bus.
            case signals
            /// `AcquireNotify` was called.
            case acquiring
            /// On a socket.
            case socket(LinkSocketID)
            /// The daemon closed the socket, perhaps because the link is ending.
            case closedSocket
        }

        let attribute: AttributeID
        var source: Source

        /// The socket, if there is one.
        var socket: LinkSocketID? { if case .socket(let socket) = source { socket } else { nil } }
    }

    /// A read in flight, and the last value that was reported meanwhile.
    struct Read: Sendable {
        let path: ObjectPath
        var value: Data?
    }

    /// How far the link is from its end.
    struct Ending: Sendable {
        /// Why the link goes down, as far as it is known.
        var reason: DisconnectReason?
        /// The last holder released it, or it is being ended for its silence.
        var isClosing = false
        /// It is down, and waits for an explanation; see ``BlueZTimings/powerLoss``.
        var isDown = false
        /// An operation failed because the link is lost; its response waits for the end of the link.
        var lost: (operation: Operation, error: BackendError)?
    }

    /// How far the discovery of services is, which BlueZ does by itself at each connection.
    struct Services: Sendable {
        /// `ServicesResolved` is waited for, with a timer.
        var areAwaitingResolution = false
        /// The services that `ServicesResolved` promised are waited for.
        var areAwaited = false
        /// All objects were asked for, since services did not come.
        var areRefreshing = false
        /// That wait is over: what is there counts.
        var areFinal = false
        /// Some were delivered, so that changes mean something.
        var areDelivered = false
        /// Changes that are to be delivered.
        var removed: [AttributeID] = []
        var added: [ObjectPath] = []
    }

    /// Whether our `Connect` made it; a link that another program made is not ours to end.
    ///
    /// BlueZ pitfall: links are shared and not counted (https://github.com/bluez/bluez/issues/89).
    let isOurs: Bool
    let path: ObjectPath
    /// BlueZ pitfall: what was kept of an earlier link is stale (https://github.com/simpleble/simpleble/issues/490), so
    /// each link has a table of its own.
    var attributes = AttributeTable()
    var waiting: Deque<Operation> = []
    var inFlight: [CallID: Operation] = [:]
    var mtu = ATTLimits.minimumMTU
    /// The characteristics that this process is subscribed to.
    var subscriptions: [ObjectPath: Subscription] = [:]
    /// Characteristics whose socket for notifications was closed here, which the daemon may not have noticed.
    var releasedSockets: Set<ObjectPath> = []
    /// Where write commands go.
    var writes = FastWrites()
    /// The read in flight.
    var read: Read?
    var ending = Ending()
    var services = Services()

    /// How many write commands one holder may have between itself and `bluetoothd`.
    ///
    /// A bus allows 128 unanswered calls per connection, for all links together.
    static let writeCredits = 16

    /// The command that is to start next, where the link takes any.
    var next: Operation? { ending.isDown || ending.isClosing || ending.lost != nil ? nil : waiting.first }

    /// Has a write command go over its characteristic's socket, if nothing must go before it: what most of them do.
    ///
    /// - Returns: The socket; nil where the command is to wait its turn.
    mutating func sendAtOnce(_ operation: Operation, _ attribute: AttributeID, _ value: Data) -> LinkSocketID? {
        guard writes.open?.attribute == attribute, attributes.path(of: attribute) != nil, waiting.isEmpty, mayWriteOn,
            !ending.isDown, !ending.isClosing, ending.lost == nil
        else { return nil }
        return writes.send(operation, value)
    }

    /// The open sockets for notifications.
    var notificationSockets: [LinkSocketID] { subscriptions.values.compactMap(\.socket) }

    /// Whether nothing is in flight but write commands.
    var mayWriteOn: Bool { inFlight.values.allSatisfy(\.command.isWriteCommand) }
}

/// The numbers of a link's attributes: one per object, never reused.
struct AttributeTable: Sendable {
    private var paths: [AttributeID: ObjectPath] = [:]
    private var ids: [ObjectPath: AttributeID] = [:]
    private var last = AttributeID(rawValue: 0)

    /// The attribute at a path; numbered when it is asked for first.
    mutating func id(of path: ObjectPath) -> AttributeID {
        if let known = ids[path] { return known }
        last = last.next
        ids[path] = last
        paths[last] = path
        return last
    }

    /// The attribute at a path, if it was numbered.
    func knownID(of path: ObjectPath) -> AttributeID? { ids[path] }

    /// The object of an attribute; nil once it is gone.
    func path(of id: AttributeID) -> ObjectPath? { paths[id] }

    /// Forgets an object; one that appears there later is another attribute.
    mutating func remove(_ path: ObjectPath) -> AttributeID? {
        guard let id = ids.removeValue(forKey: path) else { return nil }
        paths[id] = nil
        return id
    }
}
#endif
