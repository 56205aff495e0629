/// A simulated clock that follows its host's clock, and can be set.
///
/// Pure: its host, an emulated device or a profile server, passes the time.
package struct SettableClock: Hashable, Sendable {
    /// The seconds by which the clock is fast.
    private var offset = 0.0
    /// The instant of the last setting.
    private var updated = Duration.zero
    private var source = ReferenceTimeInformation.Source.networkTimeProtocol

    /// Creates an exact clock.
    package init() {}

    /// Returns the local time.
    ///
    /// - Parameter zone: The difference of the local time from UTC, in seconds.
    package func time(at date: Date, zone: Double, reason: CurrentTime.AdjustReason = []) -> CurrentTime {
        // Whole steps, so that an inexact sum does not fall short of a second.
        let steps = 1_048_576.0
        let seconds = ((date.timeIntervalSince1970 + offset + zone) * steps).rounded() / steps
        let whole = seconds.rounded(.down)
        let dateTime = DateTime(clamping: Date(timeIntervalSince1970: whole))
        return CurrentTime(dateTime, fractions256: UInt8((seconds - whole) * 256), adjustReason: reason)
    }

    /// Returns the source of the time.
    package func reference(accuracy: UInt8 = 255, at now: Duration) -> ReferenceTimeInformation {
        ReferenceTimeInformation(source: source, accuracy: accuracy, sinceUpdate: now - updated)
    }

    /// Sets the clock to a local time, in seconds since the beginning of 1970, by hand.
    package mutating func set(to local: Double, zone: Double, at date: Date, _ now: Duration) {
        (offset, source, updated) = (local - zone - date.timeIntervalSince1970, .manual, now)
    }

    /// Restarts the time since the last setting, unless the clock was set by hand.
    package mutating func started(at now: Duration) {
        if source != .manual { updated = now }
    }

    /// Synchronizes the clock with the host's, but for an offset in seconds.
    package mutating func synchronize(offset: Double = 0, at now: Duration) {
        (self.offset, source, updated) = (offset, .networkTimeProtocol, now)
    }
}
