#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues
import DequeModule
import FoundationEssentials

/// A physical link: the operations of its holders, its attributes, and its end.
///
/// Pure. What the link shares with others is passed to its methods as a ``CentralContext``, which collects their
/// effects; ``CentralRoleMachine`` creates links and removes them.
struct CentralLink: Sendable {
    /// A command of one holder; one queue orders those of all holders.
    struct Operation: Sendable {
        let manager: HostLedger.Manager
        let link: LinkID
        let command: CentralCommand
        var retries = 0
        /// Whether `bluetoothd` provided no socket for the subscription, which therefore needs `StartNotify`.
        var needsSignals = false
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
        /// Whether nothing remains to wait for, so that the link must be removed.
        var isOver = false
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

    /// The purpose of a timer of a link.
    enum Timer: CaseIterable, Sendable {
        case resolution
        case awaitingServices
        case draining
        case attributeRetry
        case linkLoss
        case powerLoss
        case serviceChanges
        case closedSockets
    }

    let peer: PeerID
    /// The object of the device.
    let path: ObjectPath
    /// Whether a `Connect` of this process made the link; this process never ends a link of another program.
    ///
    /// BlueZ pitfall: links are shared and not counted (https://github.com/bluez/bluez/issues/89).
    let isOurs: Bool
    var mtu: Int
    /// BlueZ pitfall: attributes of an earlier link are stale (https://github.com/simpleble/simpleble/issues/490), so
    /// each link starts with an empty table.
    var attributes = AttributeTable()
    var waiting: Deque<Operation> = []
    var inFlight: [CallID: Operation] = [:]
    var subscriptions = LinkSubscriptions()
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

    init(to peer: PeerID, at path: ObjectPath, isOurs: Bool, in objects: ObjectModel) {
        self.peer = peer
        self.path = path
        self.isOurs = isOurs
        mtu = Self.mtu(of: path, in: objects)
    }

    /// Whether the link is up, and this process is not ending it.
    var isOpen: Bool { !ending.isDown && !ending.isClosing }

    /// The parameters that each holder receives.
    var parameters: LinkParameters { LinkParameters(mtu: mtu, writeCredits: Self.writeCredits) }

    // MARK: Timers

    /// Handles the end of a timer.
    mutating func fired(_ timer: Timer, _ context: inout CentralContext) {
        switch timer {
        case .resolution: resolutionTimedOut(&context)
        case .awaitingServices: servicesAwaited(&context)
        case .draining: drainTimedOut(&context)
        case .attributeRetry: runOperations(&context)
        case .linkLoss: linkLossUnconfirmed(&context)
        case .powerLoss: ending.isOver = true
        case .serviceChanges: reportServiceChanges(&context)
        case .closedSockets: replaceClosedSockets(&context)
        }
    }

    func start(_ timer: Timer, _ delay: Duration, _ context: inout CentralContext) {
        context.start(.link(peer, timer), delay)
    }

    func stop(_ timer: Timer, _ context: inout CentralContext) { context.stop(.link(peer, timer)) }

    func stopTimers(_ context: inout CentralContext) {
        for timer in Timer.allCases { stop(timer, &context) }
    }
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
