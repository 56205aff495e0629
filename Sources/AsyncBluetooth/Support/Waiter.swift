import BluetoothSupport
import Synchronization

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
        let (isFirst, continuation) = state.withLock { state -> (Bool, UnsafeContinuation<Value, any Error>?) in
            switch state {
            case .finished: return (false, nil)
            case .untouched:
                state = .finished(result)
                return (true, nil)
            case .waiting(let continuation):
                state = .finished(result)
                return (true, continuation)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Waits for the result, once.
    ///
    /// - Parameter onCancel: Called when the task is cancelled before there is a result.
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
            if finish(.failure(CancellationError())) { onCancel() }
        }
    }
}

/// Runs an action when its last reference is released.
final class DeinitAction: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { action() }
}
