package import BluetoothBackend
import Dispatch

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The time of a real radio, and of no radio: the system's.
package struct SystemClock: BackendClock {
    private static let origin = ContinuousClock.now

    package init() {}

    package var now: Duration { ContinuousClock.now - Self.origin }

    package var date: Date { Date() }

    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        let call = DelayedCall(body)
        DispatchQueue.global().asyncAfter(deadline: .now() + delay.dispatchInterval) { call.fire() }
        return call
    }
}
