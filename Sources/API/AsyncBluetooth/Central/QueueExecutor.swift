import BluetoothSupport
import CoreBluetooth
import Dispatch

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// An executor that runs the jobs of tasks on a manager's queue; an emulator's virtual time waits for them.
public final class QueueExecutor: TaskExecutor {
    let queue: DispatchQueue
    #if !canImport(Darwin)
    private let managerQueue = Lock<ManagerQueue?>(nil)
    #endif

    init(_ queue: DispatchQueue) { self.queue = queue }

    /// Runs a job later, on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let run: @Sendable () -> Void = { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        #if !canImport(Darwin)
        if let managerQueue = managerQueue.withLock({ $0 }) { return managerQueue.async(run) }
        #endif
        queue.async(execute: run)
    }

    #if !canImport(Darwin)
    /// Runs the jobs among the callbacks of a manager.
    func follow(_ manager: ManagerQueue) { managerQueue.withLock { $0 = manager } }
    #endif
}
