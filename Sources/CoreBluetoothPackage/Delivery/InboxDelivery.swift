import BluetoothBackend
import Dispatch

/// What an ``Inbox`` holds, before its queue knows.
struct InboxDelivery<Owner: InboxOwner>: PendingDelivery {
    let inbox: Inbox<Owner>
    /// Kept alive until all is handled.
    let owner: Owner

    func start() {
        inbox.queue.async { inbox.drain(for: owner) }
    }

    func run() {
        // The main queue has a thread that no other can stand in for.
        guard !inbox.queue.isMain else { return start() }
        inbox.queue.sync { inbox.drain(for: owner) }
    }
}

extension DispatchQueue {
    private static let mainKey: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether this is the main queue, of which there is another object at each look.
    fileprivate var isMain: Bool { getSpecific(key: Self.mainKey) != nil }
}
