import BluetoothSupport
import CoreBluetooth
import Dispatch

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// An executor that runs the jobs of tasks on a dispatch queue; an emulator's virtual time waits for them.
public final class QueueExecutor: TaskExecutor {
    let queue: DispatchQueue
    #if !canImport(Darwin)
    private let clock = Lock<ManagerClock?>(nil)
    #endif

    init(_ queue: DispatchQueue) { self.queue = queue }

    /// Runs a job later, on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        #if !canImport(Darwin)
        if let clock = clock.withLock({ $0 }) {
            return clock.enqueue { finish in
                self.queue.async {
                    clock.withTaskContext { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
                    finish()
                }
            }
        }
        #endif
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Makes the virtual time of a manager's backend wait for the jobs.
    func follow(_ clock: ManagerClock) {
        #if !canImport(Darwin)
        self.clock.withLock { $0 = clock }
        #endif
    }
}
