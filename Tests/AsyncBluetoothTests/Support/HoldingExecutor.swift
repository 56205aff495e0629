import BluetoothEmulator
import BluetoothLocking
import Dispatch
import Synchronization

/// Runs tasks so that virtual time waits for them: it stands still while one of them has something to do.
final class HoldingExecutor: TaskExecutor {
    private struct State {
        var jobs = 0
        var hold: TimeHold?
    }

    private let emulator: Emulator
    private let queue = DispatchQueue(label: "test tasks")
    private let state = Lock(State())

    init(_ emulator: Emulator) { self.emulator = emulator }

    func enqueue(_ job: consuming ExecutorJob) {
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
}
