/// Counted revolutions and when the last one was complete.
///
/// A wheel counts in 32 bits, a crank in 16; both start over at the end.
public struct RevolutionData<Count: FixedWidthInteger & UnsignedInteger & Sendable>: Hashable, Sendable {
    /// Revolutions since the sensor began to count.
    public var count: Count
    /// When the last revolution was complete, in units of 1/1024 s; 1/2048 s for the wheel of a power meter.
    ///
    /// It starts over after 65,535.
    public var lastEventTime: UInt16

    /// A count.
    public init(count: Count, lastEventTime: UInt16) {
        self.count = count
        self.lastEventTime = lastEventTime
    }

    init(from reader: inout GATTReader, _ name: String) throws(GATTValueError) {
        count = try reader.integer("Cumulative \(name) Revolutions")
        lastEventTime = try reader.uint16("Last \(name) Event Time")
    }

    func write(to writer: inout GATTWriter) {
        writer.append(count, bytes: Count.bitWidth / 8)
        writer.append(lastEventTime)
    }

    /// Revolutions per second since an earlier measurement, of whose overflows it takes one into account.
    ///
    /// - Parameter ticks: The units of the event time per second: 1024 or 2048.
    /// - Returns: nil where no revolution was completed since.
    public func rate(since earlier: Self, ticksPerSecond ticks: Int = 1024) -> Double? {
        let time = lastEventTime &- earlier.lastEventTime
        guard time > 0 else { return nil }
        return Double(count &- earlier.count) * Double(ticks) / Double(time)
    }

    /// `10 turns at 1.000 s`.
    func text(ticksPerSecond ticks: Int = 1024) -> String {
        "\(count) turns at \(Decimals.fixed(Double(lastEventTime) / Double(ticks), 3)) s"
    }
}
