import BluetoothBackend
import BluetoothSupport
import Foundation
import Synchronization

/// A clock that a test advances.
final class ManualClock: BackendClock {
    private struct State {
        var now = Duration.zero
        var timers: [(due: Duration, timer: ManualTimer)] = []
    }

    private let state = Lock(State())

    var now: Duration { state.withLock { $0.now } }
    var date: Date { Date(timeIntervalSinceReferenceDate: 0) }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        let timer = ManualTimer(body)
        state.withLock { $0.timers.append(($0.now + delay, timer)) }
        return timer
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let now = state.now
            defer { state.timers.removeAll { $0.due <= now } }
            return state.timers.filter { $0.due <= now }.map(\.timer)
        }
        for timer in due { timer.fire() }
    }
}

private final class ManualTimer: BackendTimer {
    private let body: Lock<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Lock(body) }
    func fire() { body.withLock { $0 }?() }
    func cancel() { body.withLock { $0 = nil } }
}
