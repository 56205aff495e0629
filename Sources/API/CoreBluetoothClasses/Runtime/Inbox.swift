import BluetoothBackend
import BluetoothSupport
import Dispatch
import Logging

/// An object that handles the items of an ``Inbox``: on its queue, outside every lock.
protocol InboxOwner: AnyObject, Sendable {
    associatedtype Item: BacklogElement
    var inbox: Inbox<Self> { get }
    /// The clock that the callbacks follow.
    var clock: any BackendClock { get }
    func handle(_ item: Item)
    /// Handles the items of the inbox, on its queue.
    ///
    /// A requirement, so that each owner has specialized code for it: generic code looks up its types for every item.
    func drainInbox()
}

extension InboxOwner {
    func drainInbox() { inbox.drain(for: self) }

    /// The label of the queue, for messages about a receiver that does not become idle.
    var label: String { inbox.queue.label }

    /// Calls `body` on the queue when all items delivered so far have been handled or dropped.
    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        inbox.appendMarker(body, for: self)?.start()
    }
}

extension EventSink where Self: InboxOwner {
    /// Does the same; the caller starts or runs the delivery.
    func appendMarker(_ body: @escaping @Sendable () -> Void) -> (any PendingDelivery)? {
        inbox.appendMarker(body, for: self)
    }
}

/// The events between a backend and a manager's queue: items that any thread appends are handled in that order, one at
/// a time, on the queue.
///
/// At most one drain is in flight, so that a concurrent queue also gets one callback at a time (S158). The drain goes
/// on with what callbacks cause, and gives the queue back after 64 items or a millisecond. Unsolicited events of peers
/// are limited in number: see ``Backlog``.
final class Inbox<Owner: InboxOwner>: Sendable {
    private enum Entry: BacklogElement {
        case item(Owner.Item)
        /// Reports that all items before it have been handled, even if the manager is gone by then.
        case marker(@Sendable () -> Void)

        var backlogKind: BacklogKind {
            if case .item(let item) = self { item.backlogKind } else { .kept }
        }

        var endedLink: LinkID? {
            if case .item(let item) = self { item.endedLink } else { nil }
        }

        static func end(_ link: LinkID) -> Entry? { Owner.Item.end(link).map { .item($0) } }

        static func merged(_ changes: [Entry]) -> [Entry?] {
            let items = changes.compactMap { if case .item(let item) = $0 { item } else { nil } }
            return Owner.Item.merged(items).map { $0.map { .item($0) } }
        }
    }

    private struct Contents {
        var backlog: Backlog<Entry>
        var isDraining = false
        var mustLogOverflow = false
        var isClosed = false
    }

    private static var itemsPerBatch: Int { 64 }
    private static var longestBatch: Duration { .milliseconds(1) }

    let queue: DispatchQueue
    private let limits: CBManagerLimits
    private let contents: Lock<Contents>

    init(queue: DispatchQueue, limits: CBManagerLimits = CBManagerLimits()) {
        self.queue = queue
        self.limits = limits
        contents = Lock(Contents(backlog: Backlog(limits: limits)))
    }

    var count: Int { contents.withLock { $0.backlog.count } }

    var dropped: CBDroppedEvents { contents.withLock { $0.backlog.dropped } }

    /// Appends an item; never handles it inline (S159).
    ///
    /// A leaf lock: callable while another lock is held.
    ///
    /// - Parameters:
    ///   - item: Dropped after ``close()``.
    ///   - owner: Handles the item, and is kept alive until then.
    /// - Returns: What the caller must start or run; nil if the queue runs already, or is about to.
    func append(_ item: Owner.Item, for owner: Owner) -> InboxDelivery? {
        append(.item(item), for: owner)
    }

    /// Appends `body`, which is called on the queue behind what is there, also after ``close()``.
    ///
    /// - Returns: What the caller must start or run; nil if the queue is running or scheduled already.
    func appendMarker(_ body: @escaping @Sendable () -> Void, for owner: Owner) -> InboxDelivery? {
        append(.marker(body), for: owner)
    }

    private func append(_ entry: Entry, for owner: Owner) -> InboxDelivery? {
        let mustRun = contents.withLock { contents in
            if case .item = entry, contents.isClosed { return false }
            // Logged on the queue: the caller may hold a lock, and a log handler is the app's.
            if contents.backlog.append(entry) { contents.mustLogOverflow = true }
            if contents.isDraining || contents.backlog.isEmpty { return false }
            contents.isDraining = true
            return true
        }
        return mustRun ? InboxDelivery(queue: queue, owner: owner) : nil
    }

    private func logOverflow() {
        Logger(label: "CoreBluetooth").line(
            .warning,
            """
            \(limits.undeliveredEvents) events wait for queue \(queue.label), whose callbacks are too slow: \
            some are merged or dropped from now on (see droppedEvents and the page "Limits")
            """)
    }

    /// Drops the present items and all later ones.
    func close() {
        contents.withLock { contents in
            contents.isClosed = true
            contents.backlog.removeAll { if case .item = $0 { true } else { false } }
        }
    }

    /// Handles the items; on the queue.
    func drain(for owner: Owner) {
        owner.clock.withTaskContext { drainInContext(for: owner) }
    }

    private func drainInContext(for owner: Owner) {
        let start = ContinuousClock.now
        var handled = 0
        while let entry = next() {
            switch entry {
            case .item(let item): owner.handle(item)
            case .marker(let body): body()
            }
            handled += 1
            let mustYield =
                handled == Self.itemsPerBatch || handled % 8 == 0 && ContinuousClock.now - start > Self.longestBatch
            if mustYield { return queue.async { owner.drainInbox() } }
        }
    }

    private func next() -> Entry? {
        let (entry, mustLogOverflow) = contents.withLock { contents in
            let entry = contents.backlog.popFirst()
            if entry == nil { contents.isDraining = false }
            return (entry, exchange(&contents.mustLogOverflow, with: false))
        }
        if mustLogOverflow { logOverflow() }
        return entry
    }
}

/// The items of an ``Inbox`` whose queue is not scheduled yet.
struct InboxDelivery: PendingDelivery {
    let queue: DispatchQueue
    /// The owner, which is kept alive until all items are handled.
    let owner: any InboxOwner

    func start() {
        queue.async { owner.drainInbox() }
    }

    func run() {
        // The main queue has a thread that no other thread can replace.
        guard !queue.isMain else { return start() }
        queue.sync { owner.drainInbox() }
    }
}

extension DispatchQueue {
    private static let mainKey: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether this is the main queue, for which each access returns another object.
    fileprivate var isMain: Bool { getSpecific(key: Self.mainKey) != nil }
}
