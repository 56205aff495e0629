/// A simulated wheel or crank that turns at a rate, with the instant of its last revolution.
///
/// Pure: its host, an emulated device or a profile server, passes the time.
package struct RevolutionCounter: Hashable, Sendable {
    package var count: UInt64 = 0
    /// The instant of the last revolution in 1/1024 s, which wraps around every 64 s.
    private var lastEvent: UInt16 = 0
    /// The rate, in revolutions per minute.
    private var rate: Double
    /// The completed part of the present revolution, 0..<1.
    private var part = 0.0
    private var time = Duration.zero

    /// Creates a part that turns at a rate from the beginning of time.
    package init(rate: Double = 0) { self.rate = rate }

    /// Changes the rate from this instant on.
    package mutating func setRate(_ perMinute: Double, at now: Duration) {
        turn(until: now)
        rate = perMinute
    }

    /// Turns until an instant.
    package mutating func turn(until now: Duration) {
        let seconds = (now - time) / .seconds(1)
        time = now
        guard rate > 0, seconds > 0 else { return }
        // Without this rounding, whole revolutions would be missed, because rates are per minute.
        let turned = part + (seconds * rate / 60 * 1e9).rounded() / 1e9
        part = turned - turned.rounded(.down)
        guard turned >= 1 else { return }
        count += UInt64(min(turned, Double(UInt32.max)))
        let event = now / .seconds(1) - part * 60 / rate
        lastEvent = UInt16(truncatingIfNeeded: Int((min(max(event, 0), 1e15) * 1024).rounded()))
    }

    /// The count and the instant, as a measurement contains them.
    package func data<Count: FixedWidthInteger & UnsignedInteger>() -> RevolutionData<Count> {
        RevolutionData(count: Count(truncatingIfNeeded: count), lastEventTime: lastEvent)
    }
}
