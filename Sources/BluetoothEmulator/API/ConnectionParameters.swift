/// How often the two ends of a link meet.
///
/// Source: Core Specification, Vol 6, Part B, 4.5.
public struct ConnectionParameters: Hashable, Sendable {
    /// The time between connection events: 7.5 ms...4 s, or zero for no latency at all.
    public var interval: Duration
    /// How many connection events the device may leave out when it has nothing to say, 0...499.
    public var peripheralLatency: Int
    /// Without a sign of life for so long, the link is lost: 100 ms...32 s.
    public var supervisionTimeout: Duration

    /// How often two ends meet.
    public init(interval: Duration, peripheralLatency: Int = 0, supervisionTimeout: Duration = .seconds(4)) {
        self.interval = interval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Checks the ranges, and that the timeout is longer than twice what may be left out.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    public func validate(path: String = "parameters") throws(DescriptionError) {
        guard interval == .zero || (.microseconds(7500) ... .seconds(4)).contains(interval) else {
            throw DescriptionError("\(path).interval", "the connection interval is 7.5 ms...4 s, or 0")
        }
        guard (0...499).contains(peripheralLatency) else {
            throw DescriptionError("\(path).peripheralLatency", "the latency is 0...499 connection events")
        }
        guard (.milliseconds(100) ... .seconds(32)).contains(supervisionTimeout) else {
            throw DescriptionError("\(path).supervisionTimeout", "the supervision timeout is 100 ms...32 s")
        }
        guard supervisionTimeout > interval * (1 + peripheralLatency) * 2 else {
            throw DescriptionError(
                "\(path).supervisionTimeout", "it is longer than (1 + latency) times the interval, twice")
        }
    }
}
