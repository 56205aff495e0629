#if os(Linux)
import BluetoothBackend
import BluetoothLocking
import Dispatch
import FoundationEssentials
import Synchronization

/// The time of a real radio: the system's.
struct BlueZClock: BackendClock {
    private static let origin = ContinuousClock.now

    var now: Duration { ContinuousClock.now - Self.origin }

    var date: Date { Date() }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        let timer = DelayedCall(body)
        DispatchQueue.global().asyncAfter(deadline: .now() + delay.dispatchInterval) { timer.fire() }
        return timer
    }
}

/// A call that may be taken back.
final class DelayedCall: BackendTimer {
    private let body: Lock<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Lock(body) }

    func fire() { take()?() }

    func cancel() { _ = take() }

    private func take() -> (@Sendable () -> Void)? {
        body.withLock { body in
            defer { body = nil }
            return body
        }
    }
}

extension Duration {
    /// The same in Dispatch's terms; about 292 years at most.
    var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        guard seconds < 9_000_000_000 else { return .never }
        return .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }
}
#endif
