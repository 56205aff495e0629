import Dispatch

extension DispatchQueue {
    /// Suspends the queue once it is idle: after `suspend()` alone, a running block may still handle new items.
    func suspendWhenIdle() {
        sync {}
        suspend()
    }
}
