import BluetoothBackend
import BluetoothSupport

/// An emulator's time as a Swift clock, for app code and for handlers.
///
/// A sleep in virtual time ends when the driver reaches its deadline. The emulator cannot observe what the task does
/// afterwards; use a ``TimeHold`` if time must wait for it.
public struct EmulatorClock: Clock {
    /// A point in an emulator's time.
    public struct Instant: InstantProtocol {
        /// The time since the world began.
        public var offset: Duration

        /// Creates a point in time, relative to the beginning of the world.
        public init(offset: Duration) { self.offset = offset }

        /// Returns the point that is later by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time from this point to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Compares the points in time.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let emulator: Emulator

    /// The present time.
    public var now: Instant { Instant(offset: emulator.now) }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until a point of the emulator's time.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let hold = TimeHold.current
        do {
            try await Waiter.sleep { wake in
                let timer = emulator.clock.schedule(after: deadline.offset - emulator.now) {
                    hold?.retake()
                    wake()
                }
                hold?.pause()
                return timer
            }
        } catch {
            hold?.retake()
            throw error
        }
    }
}

/// The emulator's time as the facade sees it.
struct EmulatorBackendClock: BackendClock {
    struct Timer: BackendTimer {
        let emulator: Emulator
        let alarm: UInt64

        func cancel() {
            // Released outside the lock: the closure may hold app objects.
            let call = emulator.core.withLock { core -> (@Sendable () -> Void)? in
                core.world.lower.context.timeline.cancelAlarm(alarm)
                return core.calls.removeValue(forKey: alarm)
            }
            withExtendedLifetime(call) {}
        }
    }

    let emulator: Emulator

    var now: Duration { emulator.now }

    var deliveryTime: Duration { emulator.deliveryTime }

    var date: Date { emulator.origin.addingTimeInterval(emulator.now / .seconds(1)) }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        let alarm = emulator.perform { core in
            let number = core.world.lower.context.timeline.addAlarm(after: delay.nanoseconds)
            core.calls[number] = body
            return number
        }
        return Timer(emulator: emulator, alarm: alarm)
    }

    func sleep(for duration: Duration) async throws { try await emulator.swiftClock.sleep(for: duration) }

    func enqueue(_ work: @escaping @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void) {
        guard emulator.time == .virtual else { return work {} }
        emulator.tasks.enqueue(work)
    }

    func withTaskContext(_ body: () -> Void) { emulator.withTaskContext(body) }
}
