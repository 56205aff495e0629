#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
}

/// A call that a ``BackendClock`` owes.
public protocol BackendTimer: Sendable {
    /// Takes the call back; harmless when it was made already.
    func cancel()
}
