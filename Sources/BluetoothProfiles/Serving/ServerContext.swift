import BluetoothBackend
public import Foundation

/// What a server may ask of its device.
public struct ServerContext: Sendable {
    let clock: any BackendClock
    let timers: SubscriptionTimers

    /// The time since the radio's beginning: real, or the emulator's.
    public var now: Duration { clock.now }

    /// The date, of the same clock.
    public var date: Date { clock.date }

    /// Calls `body` each `interval` while at least one central subscribes to a value.
    ///
    /// The first call is one interval after the first subscription. The calls come one at a time, on a thread of the
    /// clock's choice; with an emulator's virtual time, in the step of the world that the time is due in.
    ///
    /// - Parameters:
    ///   - interval: Asked before each call; nil or zero ends the calls until somebody subscribes anew.
    ///   - value: The value whose subscriptions matter.
    ///   - body: Runs after each interval.
    public func `repeat`(
        every interval: @escaping @Sendable () -> Duration?, whileSubscribedTo value: any ServedAttribute,
        _ body: @escaping @Sendable () -> Void
    ) {
        timers.add(value, interval: interval, body)
    }

    /// Whether a central subscribes to a value.
    public func isSubscribed(to value: any ServedAttribute) -> Bool { timers.isSubscribed(value) }
}
