import BluetoothLocking
import Synchronization

/// One task that sleeps on a ``BackendClock``: the timer or a cancellation wakes it, whichever comes first.
final class Sleeper: Sendable {
    private enum State: Sendable {
        case idle
        case asleep(CheckedContinuation<Void, any Error>, (any BackendTimer)?)
        case awake
    }

    private let state = Lock(State.idle)

    /// Begins the sleep of a task.
    ///
    /// - Parameter schedule: Makes the timer that calls its argument.
    func begin(
        _ continuation: CheckedContinuation<Void, any Error>,
        _ schedule: (@escaping @Sendable () -> Void) -> any BackendTimer
    ) {
        let isCancelled = state.withLock { state -> Bool in
            if case .awake = state { return true }
            state = .asleep(continuation, nil)
            return false
        }
        if isCancelled { return continuation.resume(throwing: CancellationError()) }
        let timer = schedule { self.wake()?.resume() }
        let isOver = state.withLock { state -> Bool in
            guard case .asleep(let continuation, _) = state else { return true }
            state = .asleep(continuation, timer)
            return false
        }
        if isOver { timer.cancel() }
    }

    /// The task is cancelled, perhaps before it sleeps.
    func cancel() { wake()?.resume(throwing: CancellationError()) }

    private func wake() -> CheckedContinuation<Void, any Error>? {
        let (continuation, timer) = state.withLock {
            state -> (CheckedContinuation<Void, any Error>?, (any BackendTimer)?) in
            defer { state = .awake }
            guard case .asleep(let continuation, let timer) = state else { return (nil, nil) }
            return (continuation, timer)
        }
        timer?.cancel()
        return continuation
    }
}
