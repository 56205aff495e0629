public import BluetoothSupport

/// The time of a backend: real on an adapter, real or virtual on an emulator.
public protocol BackendClock: Sendable {
    /// The time since the clock's origin; never goes back.
    var now: Duration { get }

    /// The time of the event that the backend is delivering: ``now`` for a sink, which may be called under a lock of the
    /// backend.
    var deliveryTime: Duration { get }

    /// The wall date at ``now``, for time stamps that apps see.
    var date: Date { get }

    /// Calls `body` once, `delay` from now, on a thread of the clock's choice; never inline.
    ///
    /// - Returns: A token; cancelling it before it is due keeps `body` from being called.
    @discardableResult
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer

    /// Suspends the task for a duration.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Starts work of the app that is ready to run, now or in its order; virtual time waits for its end.
    ///
    /// - Parameter work: Starts the work on a separate queue and returns; it calls `finish` once, at the end of the
    ///   work.
    func enqueue(_ work: @escaping @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void)

    /// Runs callbacks of a manager, inline, so that the clock knows the tasks that they start.
    func withTaskContext(_ body: () -> Void)
}

extension BackendClock {
    /// The present time, for a clock that takes no lock.
    public var deliveryTime: Duration { now }

    /// Suspends the task until a timer of this clock is due.
    public func sleep(for duration: Duration) async throws {
        try await Waiter.sleep { wake in schedule(after: duration, wake) }
    }

    /// Starts the work immediately; real time waits for nothing.
    public func enqueue(_ work: @escaping @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void) { work {} }

    /// Runs the callbacks.
    public func withTaskContext(_ body: () -> Void) { body() }
}

/// A scheduled call of a ``BackendClock``.
public protocol BackendTimer: Sendable {
    /// Cancels the call; no effect after the call.
    func cancel()
}

extension SystemClock: BackendClock {
    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        call(after: delay, body)
    }
}

extension DelayedCall: BackendTimer {}

extension Waiter<Void> {
    /// Suspends the task until a timer is due.
    ///
    /// - Parameter schedule: Makes the timer that calls its argument.
    /// - Throws: `CancellationError` when the task is cancelled; the timer is cancelled, too.
    package static func sleep(_ schedule: (@escaping @Sendable () -> Void) -> any BackendTimer) async throws {
        try Task.checkCancellation()
        let waiter = Waiter()
        let timer = schedule { waiter.finish(.success(())) }
        try await waiter.value { timer.cancel() }
    }
}
