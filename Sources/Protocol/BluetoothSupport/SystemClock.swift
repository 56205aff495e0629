import Dispatch

/// The system's monotonic clock, and its time of day.
package struct SystemClock: Sendable {
    private static let origin = ContinuousClock.now

    package init() {}

    package var now: Duration { ContinuousClock.now - Self.origin }

    package var date: Date { Date() }

    /// Calls `body` on a global queue after a delay, unless the call is cancelled before.
    package func call(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> DelayedCall {
        let call = DelayedCall(body)
        DispatchQueue.global().asyncAfter(machineDeadline: .now() + delay.dispatchInterval) { call.fire() }
        return call
    }
}
