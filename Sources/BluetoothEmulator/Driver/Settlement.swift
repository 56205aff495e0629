import BluetoothLocking
import Dispatch
import Synchronization

/// Something that the driver waits for outside the lock, for as long as its patience lasts.
final class Settlement: Sendable {
    private struct State {
        var outcome: Bool?
        var body: (@Sendable (Bool) -> Void)?
    }

    private let state = Lock(State())

    /// Whether the wait is over.
    var outcome: Bool? { state.withLock { $0.outcome } }

    /// Ends the wait; only the first call counts.
    func finish(_ isSettled: Bool) {
        let body = state.withLock { state -> (@Sendable (Bool) -> Void)? in
            guard state.outcome == nil else { return nil }
            state.outcome = isSettled
            defer { state.body = nil }
            return state.body
        }
        body?(isSettled)
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

/// Ends the wait for what does not settle before the driver's patience, in real time, is over.
///
/// One per drive; a timer per delivery would cost more than the delivery.
final class Watchdog: Sendable {
    private struct State {
        var current: Settlement?
        var age = 0
        var isOver = false
    }

    /// It looks so often before patience is over.
    private static let looks = 10
    private static let queue = DispatchQueue(label: "CoreBluetooth emulator watchdog")
    private let state = Lock(State())

    private let interval: DispatchTimeInterval

    init(patience: Duration) {
        interval = .nanoseconds(Int(patience.nanoseconds) / Self.looks)
        check()
    }

    /// Watches this wait from now on, in place of the one before.
    func watch(_ settlement: Settlement) {
        state.withLock { state in
            state.current = settlement
            state.age = 0
        }
    }

    /// Ends the watch.
    func stop() {
        state.withLock { state in
            state.isOver = true
            state.current = nil
        }
    }

    private func check() {
        Self.queue.asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self else { return }
            let (overdue, isOver) = state.withLock { state -> (Settlement?, Bool) in
                state.age += 1
                return (state.age >= Self.looks ? state.current : nil, state.isOver)
            }
            overdue?.finish(false)
            if !isOver { check() }
        }
    }
}
