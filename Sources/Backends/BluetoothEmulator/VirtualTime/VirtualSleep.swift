import BluetoothSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// The scheduling of executors is not yet a public interface of Swift, and may change with each version: see the proposal
// "Delayed Enqueuing for Executors" (SE-0505). Other versions of Swift than these sleep in real time.
#if os(Linux) && compiler(>=6.3) && compiler(<6.4)
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// The default executor of a process that has emulators in virtual time.
///
/// `Task.sleep` and the clocks of the system ask for an executor that schedules, and end here unless the task prefers
/// another one. A task of a world sleeps in that world's time, any other task in the machine's time.
final class VirtualSleep: TaskExecutor, SchedulingExecutor {
    /// Tasks without a world sleep on the platform's executor.
    private let platform: any TaskExecutor & SchedulingExecutor

    private init(_ platform: any TaskExecutor & SchedulingExecutor) { self.platform = platform }

    /// Makes sleeps and the system's clocks virtual for tasks of worlds, once per process.
    ///
    /// - Returns: Whether the runtime allows it; if not, nothing has changed.
    static func install() -> Bool {
        guard let platform = Task.defaultExecutor as? any TaskExecutor & SchedulingExecutor,
            ImportedFunction.replace("clock_gettime", in: "libswift_Concurrency.so", with: clockReading)
        else { return false }
        Factory.executor.withLock { $0 = VirtualSleep(platform) }
        // The runtime stores the executor without a lock, and reads it when a task begins to sleep. The first emulator in
        // virtual time makes this one store; both executors live as long as the process.
        _createExecutors(factory: Factory.self)
        return true
    }

    private enum Factory: ExecutorFactory {
        static let executor = Lock<(any TaskExecutor)?>(nil)
        static var mainExecutor: any MainExecutor { MainActor.executor }
        static var defaultExecutor: any TaskExecutor { executor.withLock { $0 } ?? Task.defaultExecutor }
    }

    /// The `clock_gettime(2)` of Swift's clocks.
    private static var clockReading: UnsafeMutableRawPointer {
        let function: @convention(c) (clockid_t, UnsafeMutablePointer<timespec>) -> CInt = { clock, result in
            guard let time = TaskContext.current?.queue?.time?.reading(clock) else {
                return clock_gettime(clock, result)
            }
            result.pointee = time
            return 0
        }
        return unsafeBitCast(function, to: UnsafeMutableRawPointer.self)
    }

    // MARK: Executor

    func enqueue(_ job: consuming ExecutorJob) { platform.enqueue(job) }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        guard let delay = delay as? Duration, let queue = TaskContext.current?.queue, let time = queue.time else {
            return platform.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
        }
        time.run(UnownedJob(job), on: queue, after: delay) { [platform] job, remainder in
            platform.enqueue(ExecutorJob(job), after: remainder, tolerance: nil, clock: ContinuousClock())
        }
    }
}
#else
enum VirtualSleep {
    static func install() -> Bool { false }
}
#endif
