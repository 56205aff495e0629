import BluetoothBackend
import BluetoothSupport

/// The time of a manager's backend as a Swift clock, for modules above this one: an emulator's time if the backend is
/// one, otherwise real time.
package struct ManagerClock: Clock {
    package struct Instant: InstantProtocol {
        var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let clock: any BackendClock

    package init(of manager: CBCentralManager) { clock = manager.core.clock }

    package init(of manager: CBPeripheralManager) { clock = manager.core.clock }

    /// The time of the backend that the task selects; real time if it selects none.
    package init() { clock = SelectedBackend.current?.clock ?? SystemClock() }

    package var now: Instant { Instant(offset: clock.now) }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await clock.sleep(for: deadline.offset - clock.now)
    }

    package var date: Date { clock.date }

    package var elapsedTime: Duration { clock.now }
}
