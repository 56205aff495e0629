package import BluetoothEmulator
import BluetoothLocking
import Dispatch
import Synchronization

/// Runs tasks so that virtual time waits for them: it stands still while one of them has something to do.
package final class HoldingExecutor: TaskExecutor {
    private struct State {
        var jobs = 0
        var hold: TimeHold?
    }

    private let emulator: Emulator
    private let queue = DispatchQueue(label: "test tasks")
    private let state = Lock(State())

    package init(_ emulator: Emulator) { self.emulator = emulator }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
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
            try await emulator.advance(until: { isDone.withLock { $0 } }, within: limit)
        } catch {
            task.cancel()
            throw error
        }
        return try await task.value
    }
}
