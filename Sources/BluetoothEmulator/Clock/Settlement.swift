import BluetoothLocking
import Synchronization

/// Something that is waited for, with an outcome that only its first finisher sets.
final class Settlement: Sendable {
    private struct State {
        var outcome: Bool?
        var body: (@Sendable (Bool) -> Void)?
    }

    private let state = Lock(State())

    /// Ends the wait; only the first call counts.
    func finish(_ outcome: Bool) {
        let body = state.withLock { state -> (@Sendable (Bool) -> Void)? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.body = nil }
            return state.body
        }
        body?(outcome)
    }

    /// Calls `body` with the outcome, at once if it is known.
    func whenFinished(_ body: @escaping @Sendable (Bool) -> Void) {
        let outcome = state.withLock { state -> Bool? in
            if state.outcome == nil { state.body = body }
            return state.outcome
        }
        if let outcome { body(outcome) }
    }
}
