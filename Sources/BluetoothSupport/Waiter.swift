/// One awaited result: the first call of `finish` sets it, and the waiting task resumes exactly once.
///
/// The continuation is the unchecked one, as the state is the check: it leaves `waiting` once, and never without
/// resuming.
package final class Waiter<Value: Sendable>: Sendable {
    package init() {}

    private enum State {
        case untouched
        case waiting(UnsafeContinuation<Value, any Error>)
        case finished(Result<Value, any Error>)
    }

    private let state = Lock(State.untouched)

    /// Sets the result; later ones are ignored.
    ///
    /// - Returns: Whether this was the first one.
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
    /// - Parameter onCancel: Called when the task is cancelled before there is a result, and before the task resumes.
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
