import BluetoothBackend
import BluetoothLocking
import Dispatch
import FoundationEssentials
import Synchronization

/// The system's own time.
struct SystemClock: BackendClock {
    private static let origin = ContinuousClock.now

    var now: Duration { ContinuousClock.now - Self.origin }

    var date: Date { Date() }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        let timer = SystemTimer(body)
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(delay.nanoseconds)) { timer.fire() }
        return timer
    }
}

private final class SystemTimer: BackendTimer {
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
    /// Whole nanoseconds, at most `Int.max`.
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = components
        let (product, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? Int.max : product.addingReportingOverflow(Int(attoseconds / 1_000_000_000)).partialValue
    }
}
