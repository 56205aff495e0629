import BluetoothBackend
import BluetoothSupport
import FoundationEssentials
import Synchronization

/// A clock that a test advances.
final class TestClock: BackendClock {
    private struct State {
        var now = Duration.zero
        var calls: [Int: (due: Duration, body: @Sendable () -> Void)] = [:]
        var last = 0
    }

    private struct Timer: BackendTimer {
        let clock: TestClock
        let number: Int

        func cancel() { clock.state.withLock { $0.calls[number] = nil } }
    }

    private let state = Lock(State())

    var now: Duration { state.withLock { $0.now } }
    var date: Date { Samples.date + now / .seconds(1) }
    /// The number of scheduled calls.
    var owed: Int { state.withLock { $0.calls.count } }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        let number = state.withLock { state -> Int in
            state.last += 1
            state.calls[state.last] = (state.now + delay, body)
            return state.last
        }
        return Timer(clock: self, number: number)
    }

    /// Advances the time, with all calls that become due.
    func advance(by duration: Duration) {
        let end = now + duration
        while let body = takeNext(until: end) { body() }
        state.withLock { $0.now = end }
    }

    private func takeNext(until end: Duration) -> (@Sendable () -> Void)? {
        state.withLock { state in
            let due = state.calls.filter { $0.value.due <= end }
            guard let next = due.min(by: { ($0.value.due, $0.key) < ($1.value.due, $1.key) }) else { return nil }
            state.now = next.value.due
            return state.calls.removeValue(forKey: next.key)?.body
        }
    }
}
