#if os(Linux)
import BluetoothSupport

/// The timer of a world in real time: a thread that handles what is due, callbacks of apps included.
///
/// A timer of Dispatch wakes a thread for the time, another for the world, and another for the app's queue; see
/// ``EventThreads``. The owner ends the timer with ``stop()``.
final class WorldTimer: EventSource {
    private let countdown: Countdown
    private let threads: EventThreads
    private let handler: @Sendable (_ allowsInline: Bool) -> InlineWork?

    /// Starts the threads; the timer is not set yet.
    ///
    /// - Parameter handler: Runs when the time is over; may return work only if `allowsInline` is true.
    /// - Returns: nil if the process has no descriptor or thread left.
    init?(_ handler: @escaping @Sendable (_ allowsInline: Bool) -> InlineWork?) {
        guard let countdown = Countdown(), let threads = EventThreads() else { return nil }
        self.countdown = countdown
        self.threads = threads
        self.handler = handler
        guard threads.start(self) else { return nil }
    }

    /// Sets the timer anew.
    ///
    /// Takes no lock.
    func start(nanoseconds: Int) { countdown.start(nanoseconds: max(1, nanoseconds)) }

    /// Ends the threads soon; later calls do nothing.
    func stop() { threads.stop(self) }

    func wait() -> CInt { countdown.wait() && countdown.takeEnd() ? 1 : 0 }

    func wake() { countdown.start(nanoseconds: 1) }

    func handle(_ events: CInt, allowsInline: Bool) -> InlineWork? { handler(allowsInline) }

    func end() {}
}
#endif
