import BluetoothBackend
import BluetoothLocking
import DequeModule
import Dispatch
import Synchronization

/// What an ``Inbox`` holds.
protocol InboxItem: Sendable {
    /// All that came before has been handled.
    static func settled(_ body: @escaping @Sendable () -> Void) -> Self
}

/// Who handles what an ``Inbox`` holds: on its queue, outside every lock.
protocol InboxOwner: AnyObject, Sendable {
    associatedtype Item: InboxItem
    var inbox: Inbox<Self> { get }
    func handle(_ item: Item)
}

extension InboxOwner {
    /// The queue's, for messages about a receiver that does not settle.
    var label: String { inbox.queue.label }

    /// Calls `body` when all that was delivered so far has been handled, or will not be.
    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        if !inbox.post(.settled(body), for: self) { body() }
    }
}

/// The mailbox between a backend and a manager's queue: what comes in from any thread goes out in that order, one at
/// a time, on the queue.
///
/// One drain at most is in flight, so that a concurrent queue too gets one callback at a time (S158). The drain goes
/// on with what callbacks cause, and gives the queue back after 64 items or a millisecond.
final class Inbox<Owner: InboxOwner>: Sendable {
    private struct Contents {
        var items = Deque<Owner.Item>()
        var isDraining = false
        var isClosed = false
    }

    private static var itemsPerTurn: Int { 64 }
    private static var longestTurn: Duration { .milliseconds(1) }

    let queue: DispatchQueue
    private let contents = Lock(Contents())

    init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// Appends; never handles inline (S159).
    ///
    /// A leaf lock: callable under another one.
    ///
    /// - Parameter owner: Handles the item, and is kept alive until then.
    /// - Returns: Whether the item will be handled: not after ``close()``.
    @discardableResult
    func post(_ item: Owner.Item, for owner: Owner) -> Bool {
        let (isOpen, mustSchedule) = contents.withLock { contents -> (Bool, Bool) in
            guard !contents.isClosed else { return (false, false) }
            contents.items.append(item)
            defer { contents.isDraining = true }
            return (true, !contents.isDraining)
        }
        if mustSchedule { queue.async { [self] in drain(for: owner) } }
        return isOpen
    }

    /// Drops what is there and what comes.
    ///
    /// - Returns: What was there.
    func close() -> Deque<Owner.Item> {
        contents.withLock { contents in
            contents.isClosed = true
            defer { contents.items = [] }
            return contents.items
        }
    }

    private func drain(for owner: Owner) {
        let start = ContinuousClock.now
        var handled = 0
        while let item = next() {
            owner.handle(item)
            handled += 1
            let mustYield =
                handled == Self.itemsPerTurn || handled % 8 == 0 && ContinuousClock.now - start > Self.longestTurn
            if mustYield { return queue.async { [self] in drain(for: owner) } }
        }
    }

    private func next() -> Owner.Item? {
        contents.withLock { contents in
            let item = contents.items.popFirst()
            if item == nil { contents.isDraining = false }
            return item
        }
    }
}
