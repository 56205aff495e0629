import BluetoothSupport
import Dispatch

/// The jobs of the process that belong to no world: those of other tests, and those that unknown threads made ready.
///
/// They run in no particular order, as on the global executor. A world waits for them for a second at most; after that,
/// it ignores the jobs that existed when the wait began.
final class UnattributedJobs: Sendable {
    typealias Number = UInt64

    /// The origin of a job, by which a world decides whether to wait for it.
    enum Kind: Sendable {
        /// The job became ready outside of every task; its task may belong to the world.
        case ofUnknownOrigin
        /// A task that belongs to no world made the job ready.
        case ofOtherTask

        // The sets are constants because each event needs them.
        static let all: Set<Kind> = [.ofUnknownOrigin, .ofOtherTask]
        static let unknown: Set<Kind> = [.ofUnknownOrigin]
    }

    private typealias Waiter = (kinds: Set<Kind>, body: @Sendable () -> Void)

    private struct State {
        var last: Number = 0
        var jobs: [Number: Kind] = [:]
        var waiters: [Number: Waiter] = [:]

        func isQuiet(_ kinds: Set<Kind>) -> Bool { !jobs.values.contains(where: kinds.contains) }

        /// Removes and returns the waiters whose wait has ended.
        mutating func takeSatisfied() -> [Waiter] {
            let satisfied = waiters.filter { isQuiet($0.value.kinds) }
            for number in satisfied.keys { waiters[number] = nil }
            return Array(satisfied.values)
        }
    }

    static let shared = UnattributedJobs()

    /// The maximum real time for which a world waits for these jobs.
    static let limit = Duration.seconds(1)

    private let queue = DispatchQueue(label: "CoreBluetooth emulator process")
    private let state = Lock(State())

    /// Runs a job on a thread of the global queue.
    func run(_ job: UnownedJob, _ kind: Kind) {
        let number = begin(kind)
        DispatchQueue.global().async {
            TaskContext(.process(number)).perform { job.runSynchronously(on: JobHooks.genericExecutor) }
            self.end(number)
        }
    }

    /// Adds a job.
    func begin(_ kind: Kind) -> Number {
        state.withLock { state in
            state.last += 1
            state.jobs[state.last] = kind
            return state.last
        }
    }

    /// Removes a job; has no effect if it was removed before.
    func end(_ number: Number) {
        let satisfied = state.withLock { state -> [Waiter] in
            state.jobs[number] = nil
            return state.waiters.isEmpty ? [] : state.takeSatisfied()
        }
        for waiter in satisfied { queue.async(execute: waiter.body) }
    }

    /// Whether no job of these kinds is ready or running.
    func isQuiet(_ kinds: Set<Kind>) -> Bool { state.withLock { $0.isQuiet(kinds) } }

    /// Calls `body` when no job of these kinds is ready or running, at the latest after a second.
    ///
    /// - Returns: Whether no such job exists now; `body` is not called then.
    func whenQuiet(_ kinds: Set<Kind>, _ body: @escaping @Sendable () -> Void) -> Bool {
        let number = state.withLock { state -> Number? in
            guard !state.isQuiet(kinds) else { return nil }
            state.last += 1
            state.waiters[state.last] = (kinds, body)
            return state.last
        }
        guard let number else { return true }
        queue.asyncAfter(machineDeadline: .now() + .nanoseconds(Int(Self.limit.nanoseconds))) { self.expire(number) }
        return false
    }

    /// Ends a wait; the jobs that existed when it began are ignored from now on.
    private func expire(_ number: Number) {
        let satisfied = state.withLock { state -> [Waiter] in
            guard let waiter = state.waiters.removeValue(forKey: number) else { return [] }
            for job in state.jobs.keys where job < number { state.jobs[job] = nil }
            return [waiter] + state.takeSatisfied()
        }
        for waiter in satisfied { waiter.body() }
    }
}
