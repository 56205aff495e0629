/// A simulated heart, and the sensor that measures it.
///
/// Pure, and without a clock: its host, an emulated device or a profile server, measures at regular intervals.
package struct HeartRateSensor: Hashable, Sendable {
    /// The number of measurements so far.
    package private(set) var measurements = 0
    /// The energy expended, in kilojoules, which every tenth measurement contains.
    package var energy: UInt16 = 0
    /// The time since the last beat, in 1/1024 s.
    private var sinceBeat = 0

    /// Creates a sensor with all counts at zero.
    package init() {}

    /// Returns a rate that goes from 60 up to 90 beats per minute and back within a minute.
    package static func restingRate(_ measurement: Int) -> UInt16 {
        let phase = abs(measurement % 60)
        return UInt16(60 + min(phase, 60 - phase))
    }

    /// Counts a measurement, and returns its value with the RR intervals since the last one.
    ///
    /// The value has at most 20 bytes, which fit every MTU; it contains the latest intervals if not all fit.
    ///
    /// - Parameters:
    ///   - rate: The beats per minute; nil measures nothing this time.
    ///   - hasContact: Whether the sensor touches the skin; nil if it cannot detect that.
    ///   - seconds: The time since the last measurement.
    package mutating func measure(
        rate: UInt16?, hasContact: Bool?, after seconds: Double = 1
    ) -> HeartRateMeasurement? {
        measurements += 1
        let isTenth = measurements.isMultiple(of: 10)
        if isTenth, energy < .max { energy += 1 }
        guard let rate else { return nil }
        var intervals: [UInt16] = []
        sinceBeat = rate == 0 ? 0 : sinceBeat + Int(min(seconds, 60) * 1024)
        let interval = rate == 0 ? .max : max(1, 60 * 1024 / Int(rate))
        while sinceBeat >= interval {
            sinceBeat -= interval
            intervals.append(UInt16(clamping: interval))
        }
        var value = HeartRateMeasurement(rate: rate, hasContact: hasContact, energyExpended: isTenth ? energy : nil)
        value.intervals = intervals.suffix((20 - value.encoded.count) / 2)
        return value
    }
}
