import BluetoothSupport
import Dispatch

/// The jobs of the process that belong to no world: those of other tests, and those that a thread made ready of which
/// no world knows.
///
/// They run in no order, as on the global executor. A world that waits for them waits for a second at most: then the
/// jobs that are there count no more.
final class UnattributedJobs: Sendable {
    typealias Number = UInt64

    /// Which jobs a world waits for.
    enum Kind: Sendable {
        /// Made ready outside of every task: perhaps a task of that world.
        case ofUnknownOrigin
        /// Made ready by a task that belongs to no world.
        case ofOtherTask

        // Asked for with each event: not to be made each time.
        static let all: Set<Kind> = [.ofUnknownOrigin, .ofOtherTask]
        static let unknown: Set<Kind> = [.ofUnknownOrigin]
    }

    private typealias Waiter = (kinds: Set<Kind>, body: @Sendable () -> Void)

    private struct State {
        var last: Number = 0
        var jobs: [Number: Kind] = [:]
        var waiters: [Number: Waiter] = [:]

        func isQuiet(_ kinds: Set<Kind>) -> Bool { !jobs.values.contains(where: kinds.contains) }

        /// Removes the waiters that need not wait any longer.
        mutating func takeSatisfied() -> [Waiter] {
            let satisfied = waiters.filter { isQuiet($0.value.kinds) }
            for number in satisfied.keys { waiters[number] = nil }
            return Array(satisfied.values)
        }
    }

    static let shared = UnattributedJobs()

    /// The longest that a world waits for these jobs, in real time.
    static let limit = Duration.seconds(1)

    private let queue = DispatchQueue(label: "CoreBluetooth emulator process")
    private let state = Lock(State())

    /// Runs a job on a thread of the system's.
    func run(_ job: UnownedJob, _ kind: Kind) {
        let number = begin(kind)
        DispatchQueue.global().async {
            TaskContext(.process(number)).perform { job.runSynchronously(on: JobHooks.genericExecutor) }
            self.end(number)
        }
    }

    /// Counts a job in.
    func begin(_ kind: Kind) -> Number {
        state.withLock { state in
            state.last += 1
            state.jobs[state.last] = kind
            return state.last
        }
    }

    /// Counts a job out; harmless when that was done.
    func end(_ number: Number) {
        let satisfied = state.withLock { state -> [Waiter] in
            state.jobs[number] = nil
            return state.waiters.isEmpty ? [] : state.takeSatisfied()
        }
        for waiter in satisfied { queue.async(execute: waiter.body) }
    }

    /// Whether none of these jobs is ready or runs.
    func isQuiet(_ kinds: Set<Kind>) -> Bool { state.withLock { $0.isQuiet(kinds) } }

    /// Calls `body` when none of these jobs is ready or runs, and after a second at the latest.
    ///
    /// - Returns: Whether there is none now; then `body` is not called.
    func whenQuiet(_ kinds: Set<Kind>, _ body: @escaping @Sendable () -> Void) -> Bool {
        let number = state.withLock { state -> Number? in
            guard !state.isQuiet(kinds) else { return nil }
            state.last += 1
            state.waiters[state.last] = (kinds, body)
            return state.last
        }
        guard let number else { return true }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.limit.nanoseconds))) { self.expire(number) }
        return false
    }

    /// Waits no longer for the jobs that were there when the wait began.
    private func expire(_ number: Number) {
        let satisfied = state.withLock { state -> [Waiter] in
            guard let waiter = state.waiters.removeValue(forKey: number) else { return [] }
            for job in state.jobs.keys where job < number { state.jobs[job] = nil }
            return [waiter] + state.takeSatisfied()
        }
        for waiter in satisfied { waiter.body() }
    }
}
