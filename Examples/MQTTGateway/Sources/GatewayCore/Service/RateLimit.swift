/// A bound on how often something happens: a few times at once, and then each interval.
package struct RateLimit: Sendable {
    /// How often it may happen at once.
    package let burst: Int
    /// The time in which one more is permitted.
    package let interval: Duration
    /// When all of the burst is permitted again.
    private var rested: ContinuousClock.Instant?

    package init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
    }

    /// Whether it may happen now; if so, it counts.
    ///
    /// - Parameter now: Of a clock that goes forwards.
    package mutating func admits(at now: ContinuousClock.Instant) -> Bool {
        let next = max(rested ?? now, now)
        guard next - now <= interval * (burst - 1) else { return false }
        rested = next + interval
        return true
    }
}

/// Log lines of which others may cause any number: one of each kind in a period.
package struct PeriodicLog: Sendable {
    /// The least time between two lines of a kind.
    package static let period = Duration.seconds(10)

    private var kinds: [String: (line: ContinuousClock.Instant, omitted: Int)] = [:]

    package init() {}

    /// Whether a line is to be written, and how many were omitted since the last one.
    ///
    /// - Parameter kind: One of a bounded number of texts.
    /// - Returns: nil for a line that is omitted.
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
