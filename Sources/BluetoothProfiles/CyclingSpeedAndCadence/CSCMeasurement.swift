/// CSC Measurement (2A5B): the revolutions of a wheel and of a crank.
///
/// Speed and cadence follow from two measurements: see ``RevolutionData/rate(since:ticksPerSecond:)``.
/// Source: Cycling Speed and Cadence Service 1.0, 3.1; GATT Specification Supplement, CSC Measurement.
public struct CSCMeasurement: GATTValue, CustomStringConvertible {
    /// The wheel's revolutions; nil where the sensor does not count them.
    public var wheel: RevolutionData<UInt32>?
    /// The crank's revolutions; nil where the sensor does not count them.
    public var crank: RevolutionData<UInt16>?

    /// A measurement.
    public init(wheel: RevolutionData<UInt32>? = nil, crank: RevolutionData<UInt16>? = nil) {
        self.wheel = wheel
        self.crank = crank
    }

    /// The speed since an earlier measurement, in metres per second.
    ///
    /// `circumference`: Of the wheel, in metres: 2.1 is usual.
    /// - Returns: nil where the wheel did not come round, or is not counted.
    public func speed(since earlier: CSCMeasurement, circumference: Double) -> Double? {
        guard let wheel, let before = earlier.wheel else { return nil }
        return wheel.rate(since: before).map { $0 * circumference }
    }

    /// The cadence since an earlier measurement, in revolutions of the crank per minute.
    ///
    /// - Returns: nil where the crank did not come round, or is not counted.
    public func cadence(since earlier: CSCMeasurement) -> Double? {
        guard let crank, let before = earlier.crank else { return nil }
        return crank.rate(since: before).map { $0 * 60 }
    }

    /// True: a client ignores what follows, and flags that it does not know.
    public static var ignoresTrailingBytes: Bool { true }

    /// Reads the flags and what they announce.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint8("Flags")
        wheel = flags & 0x01 == 0 ? nil : try RevolutionData(from: &reader, "Wheel")
        crank = flags & 0x02 == 0 ? nil : try RevolutionData(from: &reader, "Crank")
    }

    /// Writes the flags and what there is.
    public func write(to writer: inout GATTWriter) {
        writer.append(UInt8((wheel == nil ? 0 : 1) | (crank == nil ? 0 : 2)))
        wheel?.write(to: &writer)
        crank?.write(to: &writer)
    }

    /// `wheel 10 turns at 1.000 s, crank 5 turns at 0.500 s`.
    public var description: String {
        let parts = [wheel.map { "wheel \($0.text())" }, crank.map { "crank \($0.text())" }].compactMap { $0 }
        return parts.isEmpty ? "no data" : parts.joined(separator: ", ")
    }
}
