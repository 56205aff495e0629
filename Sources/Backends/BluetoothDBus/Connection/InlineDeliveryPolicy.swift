#if os(Linux)
/// The decision whether the polling thread runs the work that an event causes, or another thread is woken for it.
///
/// For rare events a wakeup costs little in total, and the polling thread stays free. For dense events the wakeup costs
/// more than everything else about the event, unless the work takes long.
///
/// Pure.
struct InlineDeliveryPolicy {
    typealias Instant = ContinuousClock.Instant

    /// The longest interval between two dense events.
    static let denseInterval = Duration.milliseconds(5)
    /// The longest duration of short work; longer work suspends inline work for ``rest``.
    static let shortWork = Duration.milliseconds(1)
    static let rest = Duration.milliseconds(100)

    private var lastEvent: Instant?
    private var restEnd: Instant?

    /// Records an event, and returns whether its work may run inline.
    mutating func allowsInlineWork(at now: Instant) -> Bool {
        defer { lastEvent = now }
        guard let lastEvent, now - lastEvent <= Self.denseInterval else { return false }
        guard let restEnd else { return true }
        return now >= restEnd
    }

    /// Records how long work took, or has taken so far.
    mutating func workTook(_ duration: Duration, until now: Instant) {
        if duration > Self.shortWork { restEnd = now + Self.rest }
    }
}
#endif
