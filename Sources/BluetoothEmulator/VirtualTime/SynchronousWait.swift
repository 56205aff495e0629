import BluetoothSupport
import Dispatch
import Foundation
import Synchronization

/// Waits on the calling thread for what another thread finishes.
package enum SynchronousWait {
    /// Calls `start`, and blocks until `start`'s argument has been called.
    ///
    /// The main thread serves its run loop meanwhile, so that the main queue works.
    ///
    /// - Parameter start: Starts the work; it calls `finish` once, on any thread.
    /// - Returns: What `finish` was called with.
    package static func value<Value: Sendable>(
        of start: (_ finish: @escaping @Sendable (Value) -> Void) -> Void
    ) -> Value {
        let value = Lock<Value?>(nil)
        let semaphore = DispatchSemaphore(value: 0)
        let isMain = Thread.isMainThread
        start { result in
            value.withLock { $0 = result }
            semaphore.signal()
            // Only this wakes the main run loop on Linux.
            if isMain { DispatchQueue.main.async {} }
        }
        while true {
            if let value = value.withLock({ $0 }) { return value }
            if isMain {
                _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
            } else {
                semaphore.wait()
            }
        }
    }
}
