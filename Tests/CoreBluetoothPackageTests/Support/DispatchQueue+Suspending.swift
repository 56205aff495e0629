import Dispatch

extension DispatchQueue {
    /// Suspends the queue once it is idle: `suspend()` alone lets a block that runs take what comes meanwhile.
    func suspendWhenIdle() {
        sync {}
        suspend()
    }
}
