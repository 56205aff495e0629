import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// A delegate that presses the button of a ``Blinky`` again and again, as long as an app subscribes to it.
///
/// The durations are in the world's time.
///
/// Thread rule: called on the main queue.
public class PeriodicBlinkyDelegate: BlinkyDelegate, @unchecked Sendable {
    private let released: TimeInterval
    private let pressed: TimeInterval
    // Invariant: accessed under this lock.
    private let timer = Protected<(any BackendTimer)?>(nil)

    /// Creates a delegate.
    ///
    /// - Parameters:
    ///   - releasedDuration: The time from a release, or from the subscription, to the next press, in seconds.
    ///   - pressedDuration: The time from a press to the release, in seconds.
    public init(releasedDuration: TimeInterval = 1.0, pressedDuration: TimeInterval = 0.250) {
        released = releasedDuration
        pressed = pressedDuration
    }

    deinit { timer.withLock { $0 }?.cancel() }

    /// Does nothing.
    public func blinky(_ blinky: Blinky, didChangeLedState isOn: Bool) {}

    /// Starts or stops pressing the button.
    public func blinky(_ blinky: Blinky, didChangeButtonSubscriptionState isSubscribed: Bool) {
        let old = timer.withLock { timer in
            defer { timer = nil }
            return timer
        }
        old?.cancel()
        if isSubscribed { schedule(blinky, CBMCentralManagerMock.emulator.clock) }
    }

    private func schedule(_ blinky: Blinky, _ clock: any BackendClock) {
        let seconds = blinky.isButtonPressed ? pressed : released
        let delay = Duration(seconds: seconds, clampedTo: .milliseconds(1) ... .seconds(1_000_000))
        let new = clock.schedule(after: delay) { [weak self, weak blinky] in
            guard let self, let blinky else { return }
            blinky.simulateButtonToggle()
            self.schedule(blinky, clock)
        }
        timer.withLock { $0 = new }
    }
}
