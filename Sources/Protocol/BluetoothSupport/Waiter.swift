/// One awaited result: the first call of `finish` sets it, and the waiting task resumes exactly once.
///
/// The unchecked continuation suffices because the state is the check: the continuation leaves `waiting` once, and only
/// to be resumed.
package final class Waiter<Value: Sendable>: Sendable {
    package init() {}

    private enum State {
        case untouched
        case waiting(UnsafeContinuation<Value, any Error>)
        case finished(Result<Value, any Error>)
    }

    private let state = Lock(State.untouched)

    /// Sets the result; later results are ignored.
    ///
    /// - Returns: Whether this was the first result.
    @discardableResult
    package func finish(_ result: Result<Value, any Error>) -> Bool {
        finish(result) {}
    }

    private func finish(_ result: Result<Value, any Error>, beforeResuming body: () -> Void) -> Bool {
        let old = state.withLock { state in
            let old = state
            if case .finished = old { return old }
            state = .finished(result)
            return old
        }
        if case .finished = old { return false }
        body()
        if case .waiting(let continuation) = old { continuation.resume(with: result) }
        return true
    }

    /// Waits for the result, once.
    ///
    /// - Parameter onCancel: Called if the task is cancelled before a result is set, and before the task resumes.
    /// - Throws: The failure of the result, or `CancellationError`.
    package func value(
        isolation: isolated (any Actor)? = #isolation, onCancel: @Sendable () -> Void
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    if case .finished(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            _ = finish(.failure(CancellationError()), beforeResuming: onCancel)
        }
    }
}
