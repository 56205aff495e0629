import BluetoothSupport

/// A queue of tasks that use something one at a time, in the order of their calls.
final class TurnQueue: Sendable {
    private struct State {
        var isTaken = false
        var waiters: [Waiter<Void>] = []
    }

    private let state = Lock(State())

    /// Waits for the turn of the calling task, which ends it with ``end()``.
    ///
    /// - Throws: `CancellationError`; the task then has no turn to end.
    func begin() async throws {
        try Task.checkCancellation()
        let waiter = Waiter<Void>()
        let isFree = state.withLock { state in
            if state.isTaken { state.waiters.append(waiter) }
            return !exchange(&state.isTaken, with: true)
        }
        if !isFree { try await waiter.value { state.withLock { $0.waiters.removeAll { $0 === waiter } } } }
    }

    /// Ends the present turn; the next one begins.
    func end() {
        while true {
            let next = state.withLock { state -> Waiter<Void>? in
                guard !state.waiters.isEmpty else {
                    state.isTaken = false
                    return nil
                }
                return state.waiters.removeFirst()
            }
            // A waiter that was cancelled meanwhile is skipped.
            guard let next, !next.finish(.success(())) else { return }
        }
    }
}
