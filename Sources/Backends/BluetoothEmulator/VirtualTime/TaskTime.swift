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
    private struct Calls: Sendable {
        var last: UInt64 = 0
        var pending: [UInt64: (block: DelayedBlock, point: Duration)] = [:]
    }

    /// The blocks of `asyncAfter` that wait.
    private let calls = Lock(Calls())
    /// The deadlines of blocks.
    let deadlines = Lock(DispatchDeadlines())
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
        schedule(after: duration, in: emulator) { [weak queue] in
            if let queue, let job = sleep.removeJob() { queue.enqueue(job) }
        }
    }

    /// Schedules the end of a wait, during which the hold of the calling task does not keep time from advancing.
    private func schedule(after duration: Duration, in emulator: Emulator, _ body: @escaping @Sendable () -> Void) {
        let hold = TimeHold.current
        emulator.clock.schedule(after: duration) {
            hold?.retake()
            body()
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

        func removeJob() -> UnownedJob? { job.withLock { $0.take() } }
    }
}

#if os(Linux)
/// Blocks of `DispatchQueue.asyncAfter`.
extension TaskTime {
    /// Runs a block as work of the world at a point of its time; at once if that is over.
    ///
    /// - Returns: false if the world was deallocated; nothing happens then.
    func call(_ block: DelayedBlock, at point: Duration) -> Bool {
        guard let emulator = emulator.withLock({ $0.value }) else { return false }
        let number = calls.withLock { calls in
            calls.last += 1
            calls.pending[calls.last] = (block, point)
            return calls.last
        }
        schedule(after: max(.zero, point - now), in: emulator) { [weak self, weak queue = emulator.tasks] in
            guard let queue, let block = self?.calls.withLock({ $0.pending.removeValue(forKey: number) })?.block else {
                return
            }
            queue.enqueue { finish in block.run(in: queue.makeContext(), finish) }
        }
        return true
    }

    /// Leaves the blocks that wait to the machine's time, for the durations that are left.
    func endCalls() {
        for (_, call) in takeCalls().sorted(by: { $0.key < $1.key }) {
            call.block.run(after: max(.zero, call.point - now))
        }
    }

    /// Releases the blocks that wait, which do not run.
    func dropCalls() { withExtendedLifetime(takeCalls()) {} }

    private func takeCalls() -> [UInt64: (block: DelayedBlock, point: Duration)] {
        calls.withLock { exchange(&$0.pending, with: [:]) }
    }
}

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
