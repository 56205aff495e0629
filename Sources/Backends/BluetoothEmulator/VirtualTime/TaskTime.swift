import BluetoothSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The virtual time of a world as its tasks see it: in their sleeps, and on the clocks of the system.
final class TaskTime: Sendable {
    private struct WeakEmulator: Sendable {
        weak var value: Emulator?
    }

    private let present: DeliveryTime
    private let emulator = Lock(WeakEmulator())
    #if os(Linux)
    /// The readings of the system's clocks when the world began.
    private let origins = [CLOCK_MONOTONIC, CLOCK_BOOTTIME].map { (clock: $0, time: timespec.reading($0)) }
    #endif

    init(_ present: DeliveryTime) { self.present = present }

    /// Sets the world that wakes the tasks, once.
    func begin(in emulator: Emulator) { self.emulator.withLock { $0.value = emulator } }

    /// The time since the world began.
    var now: Duration { present.value }

    #if os(Linux)
    /// The virtual reading of a clock of the system; nil for a clock that has none.
    func reading(_ clock: clockid_t) -> timespec? {
        guard let origin = origins.first(where: { $0.clock == clock })?.time else { return nil }
        let (seconds, attoseconds) = now.components
        let nanoseconds = origin.tv_nsec + Int(attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: origin.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }
    #endif

    /// Runs a job on a queue of tasks when a duration is over.
    ///
    /// A job that the world does not run, because it was deallocated, is left to `remainder`, with the duration that is
    /// then left.
    func run(
        _ job: UnownedJob, on queue: TaskQueue, after duration: Duration,
        _ remainder: @escaping @Sendable (UnownedJob, Duration) -> Void
    ) {
        let sleep = Sleep(job, until: now + duration, in: self, remainder)
        guard let emulator = emulator.withLock({ $0.value }) else { return }
        let hold = TimeHold.current
        _ = emulator.clock.schedule(after: duration) { [weak queue] in
            hold?.retake()
            if let queue, let job = sleep.removeJob() { queue.enqueue(job) }
        }
        hold?.pause()
    }

    /// The job that ends a task's sleep.
    private final class Sleep: Sendable {
        private let job: Lock<UnownedJob?>
        private let deadline: Duration
        private let time: TaskTime
        private let remainder: @Sendable (UnownedJob, Duration) -> Void

        init(
            _ job: UnownedJob, until deadline: Duration, in time: TaskTime,
            _ remainder: @escaping @Sendable (UnownedJob, Duration) -> Void
        ) {
            self.job = Lock(job)
            self.deadline = deadline
            self.time = time
            self.remainder = remainder
        }

        deinit { if let job = removeJob() { remainder(job, max(.zero, deadline - time.now)) } }

        func removeJob() -> UnownedJob? {
            job.withLock { job in
                defer { job = nil }
                return job
            }
        }
    }
}

#if os(Linux)
extension timespec {
    /// The present reading of a clock.
    fileprivate static func reading(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // Fails only for an unknown clock.
        clock_gettime(clock, &time)
        return time
    }
}
#endif
