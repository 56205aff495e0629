#if os(Linux)
/// The decision whether the thread that waits for events runs the work that an event causes, or another thread is woken for it.
///
/// A wakeup costs more than everything else about an event, unless the work takes long. Long work suspends inline work
/// for a pause, which doubles each time until work is short again.
///
/// Pure.
package struct InlineDeliveryPolicy {
    package typealias Instant = ContinuousClock.Instant

    /// The longest duration of short work.
    package static let shortWork = Duration.milliseconds(1)
    /// The shortest and the longest pause after long work.
    package static let pauses = Duration.milliseconds(100)...Duration.seconds(10)

    private var pause = pauses.lowerBound
    private var pauseEnd: Instant?

    /// Creates a policy that allows inline work.
    package init() {}

    /// Whether the work of an event may run inline.
    package func allowsInlineWork(at now: Instant) -> Bool { pauseEnd.map { now >= $0 } ?? true }

    /// Records how long work took.
    package mutating func workTook(_ duration: Duration, until now: Instant) {
        guard duration > Self.shortWork else { return pause = Self.pauses.lowerBound }
        pauseEnd = now + pause
        pause = min(pause * 2, Self.pauses.upperBound)
    }
}
#endif
