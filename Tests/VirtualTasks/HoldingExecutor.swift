package import BluetoothEmulator
import BluetoothLocking
import Dispatch
import Synchronization

/// Runs tasks so that virtual time waits for them: it stands still while one of them has something to do.
package final class HoldingExecutor: TaskExecutor {
    private struct State {
        var jobs = 0
        var remaining: Int
        var hold: TimeHold?
    }

    private let emulator: Emulator
    private let queue = DispatchQueue(label: "test tasks")
    private let state: Lock<State>

    /// - Parameters:
    ///   - emulator: The emulator whose time waits.
    ///   - jobLimit: How many jobs run. Jobs beyond it are dropped, so that a task that resumes itself for ever fails a
    ///     test instead of hanging it.
    package init(_ emulator: Emulator, jobLimit: Int = .max) {
        self.emulator = emulator
        state = Lock(State(remaining: jobLimit))
    }

    /// Whether jobs were dropped.
    package var isExhausted: Bool { state.withLock { $0.remaining < 0 } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isWithinLimit = state.withLock { state in
            state.remaining -= 1
            return state.remaining >= 0
        }
        guard isWithinLimit else { return }
        begin()
        queue.async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            self.end()
        }
    }

    private func begin() {
        let isFirst = state.withLock { state -> Bool in
            state.jobs += 1
            return state.jobs == 1
        }
        guard isFirst else { return }
        let hold = emulator.hold()
        // By now the jobs may be done; then the hold ends here.
        let unused = state.withLock { state -> TimeHold? in
            guard state.jobs > 0, state.hold == nil else { return hold }
            state.hold = hold
            return nil
        }
        unused?.release()
    }

    private func end() {
        let hold = state.withLock { state -> TimeHold? in
            state.jobs -= 1
            guard state.jobs == 0 else { return nil }
            defer { state.hold = nil }
            return state.hold
        }
        hold?.release()
    }

    /// Runs `body` while virtual time goes on, which waits for what `body` and its child tasks do.
    package func play<Result: Sendable>(
        within limit: Duration = .seconds(600), _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let isDone = Lock(false)
        let task = Task(executorPreference: self) {
            defer { isDone.withLock { $0 = true } }
            return try await body()
        }
        do {
            try await emulator.advance(until: { isDone.withLock { $0 } || self.isExhausted }, within: limit)
        } catch {
            task.cancel()
            throw error
        }
        if isExhausted { throw TaskSpins() }
        return try await task.value
    }
}

/// More jobs were to run than the executor's limit.
package struct TaskSpins: Error {
    package init() {}
}
