import BluetoothBackend
import Dispatch

/// The queue of a manager, for modules above this one.
///
/// Work takes its turn among the manager's callbacks, so that the thread that runs a callback also runs what follows from
/// it, without waking another thread.
package struct ManagerQueue: Sendable {
    private let queue: DispatchQueue
    /// Appends work behind the callbacks that wait; returns whether the manager still exists.
    private let append: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let clock: any BackendClock

    package init(of manager: CBCentralManager) { self.init(manager.core) }

    package init(of manager: CBPeripheralManager) { self.init(manager.core) }

    private init(_ owner: some InboxOwner) {
        queue = owner.inbox.queue
        append = { [weak owner] body in owner?.afterDelivery(body) != nil }
        clock = owner.clock
    }

    /// Runs `body` on the queue, later; virtual time waits for its end.
    package func async(_ body: @escaping @Sendable () -> Void) {
        clock.enqueue { finish in
            let work: @Sendable () -> Void = {
                clock.withTaskContext(body)
                finish()
            }
            if !append(work) { queue.async(execute: work) }
        }
    }
}
