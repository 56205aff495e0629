/// Measurement Interval (2A21): the time between measurements.
///
/// Source: Health Thermometer Service 1.0, 3.4; GATT Specification Supplement, Measurement Interval.
public struct MeasurementInterval: GATTValue, CustomStringConvertible {
    /// 1...65,535 s; 0 makes no periodic measurements.
    public var seconds: UInt16

    /// An interval in seconds.
    public init(seconds: UInt16) { self.seconds = seconds }

    /// Reads two bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        seconds = try reader.uint16("Measurement Interval")
    }

    /// Writes two bytes.
    public func write(to writer: inout GATTWriter) { writer.append(seconds) }

    /// `10 s`.
    public var description: String { seconds == 0 ? "no periodic measurement" : "\(seconds) s" }
}
