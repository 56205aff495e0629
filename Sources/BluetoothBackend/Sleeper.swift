import BluetoothSupport
import Synchronization

/// One task that sleeps: a timer or the task's cancellation wakes it, whichever comes first.
package final class Sleeper: Sendable {
    private struct State {
        var outcome: Result<Void, CancellationError>?
        var continuation: CheckedContinuation<Void, any Error>?
    }

    private let state = Lock(State())

    private init() {}

    /// Suspends the task until a timer is due.
    ///
    /// - Parameter schedule: Makes the timer that calls its argument.
    /// - Throws: `CancellationError` when the task is cancelled; the timer is cancelled, too.
    package static func sleep(_ schedule: (@escaping @Sendable () -> Void) -> any BackendTimer) async throws {
        try Task.checkCancellation()
        let sleeper = Sleeper()
        let timer = schedule { sleeper.wake(.success(())) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper.begin($0) }
        } onCancel: {
            timer.cancel()
            sleeper.wake(.failure(CancellationError()))
        }
    }

    private func begin(_ continuation: CheckedContinuation<Void, any Error>) {
        let outcome = state.withLock { state -> Result<Void, CancellationError>? in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    /// Ends the sleep, perhaps before it begins; only the first call counts.
    private func wake(_ outcome: Result<Void, CancellationError>) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: outcome)
    }
}
