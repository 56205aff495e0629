#if os(Linux)
/// Whether a thread that waits for events had better do what an event leads to itself than wake another thread for it.
///
/// Where events are rare, waking a thread costs little in all, and the one that waits stays free. Where they are dense,
/// waking costs more than all else that an event takes, unless what they lead to takes long.
///
/// Pure.
struct ErrandPace {
    typealias Instant = ContinuousClock.Instant

    /// Events are dense that follow each other within this time.
    static let denseInterval = Duration.milliseconds(5)
    /// An errand that took longer is followed by none for ``rest``.
    static let shortErrand = Duration.milliseconds(1)
    static let rest = Duration.milliseconds(100)

    private var lastEvent: Instant?
    private var restEnd: Instant?

    /// Notes an event, and says whether what it leads to may be an errand.
    mutating func allowsErrand(at now: Instant) -> Bool {
        defer { lastEvent = now }
        guard let lastEvent, now - lastEvent <= Self.denseInterval else { return false }
        guard let restEnd else { return true }
        return now >= restEnd
    }

    /// Notes how long an errand took, or has taken so far.
    mutating func errandTook(_ duration: Duration, until now: Instant) {
        if duration > Self.shortErrand { restEnd = now + Self.rest }
    }
}
#endif
