/// A limit on the rate of events: a burst at once, and then one in each interval.
package struct RateLimit: Sendable {
    /// The number of events that may happen at once.
    package let burst: Int
    /// The time after which one more event is permitted.
    package let interval: Duration
    /// The time at which the whole burst is permitted again.
    private var rested: ContinuousClock.Instant?

    package init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
    }

    /// Returns whether an event may happen now, and counts it if so.
    ///
    /// - Parameter now: The time of a monotonic clock.
    package mutating func admits(at now: ContinuousClock.Instant) -> Bool {
        let next = max(rested ?? now, now)
        guard next - now <= interval * (burst - 1) else { return false }
        rested = next + interval
        return true
    }
}

/// The log lines that others can cause in any number, limited to one of each kind in a period.
package struct PeriodicLog: Sendable {
    /// The minimum time between two lines of a kind.
    package static let period = Duration.seconds(10)

    private var kinds: [String: (line: ContinuousClock.Instant, omitted: Int)] = [:]

    package init() {}

    /// Returns the number of lines that were omitted since the last one, for a line that must be written.
    ///
    /// - Parameter kind: One of a bounded number of texts.
    /// - Returns: nil for a line that must be omitted.
    package mutating func omitted(_ kind: String, at now: ContinuousClock.Instant) -> Int? {
        let last = kinds[kind]
        if let last, now - last.line < Self.period {
            kinds[kind]?.omitted += 1
            return nil
        }
        kinds[kind] = (now, 0)
        return last?.omitted ?? 0
    }
}
