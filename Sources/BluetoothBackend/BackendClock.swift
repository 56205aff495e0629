public import BluetoothSupport

/// The time of a radio: real on an adapter, real or virtual on an emulator.
public protocol BackendClock: Sendable {
    /// The time since the clock's origin; never goes back.
    var now: Duration { get }

    /// The wall date at ``now``, for time stamps that apps see.
    var date: Date { get }

    /// Calls `body` once, `delay` from now, on a thread of the clock's choice; never inline.
    ///
    /// - Returns: A token; cancelling it before it is due keeps `body` from being called.
    @discardableResult
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer

    /// Suspends the task for so long.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Starts work of the app's that is ready to run, at once or in its turn; virtual time waits for its end.
    ///
    /// - Parameter work: Starts the work on a queue of its own and returns; it calls `finish` once, at the end of the
    ///   work.
    func enqueue(_ work: @escaping @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void)

    /// Runs callbacks of a manager, inline; tasks that they start are known to the clock.
    func withTaskContext(_ body: () -> Void)
}

extension BackendClock {
    /// Suspends the task until a timer of this clock is due.
    public func sleep(for duration: Duration) async throws {
        try await Sleeper.sleep { wake in schedule(after: duration, wake) }
    }

    /// Starts the work at once: real time waits for nothing.
    public func enqueue(_ work: @escaping @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void) { work {} }

    /// Runs the callbacks.
    public func withTaskContext(_ body: () -> Void) { body() }
}

/// A call that a ``BackendClock`` owes.
public protocol BackendTimer: Sendable {
    /// Takes the call back; harmless when it was made already.
    func cancel()
}
