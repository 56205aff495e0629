/// Peripheral Preferred Connection Parameters (2A04).
///
/// Source: Core Specification, Vol 3, Part C, 12.3.
public struct PreferredConnectionParameters: GATTValue, CustomStringConvertible {
    /// The shortest interval, in units of 1.25 ms; 0xFFFF is no specific one.
    public var minimumInterval: UInt16
    /// The longest interval, in units of 1.25 ms; 0xFFFF is no specific one.
    public var maximumInterval: UInt16
    /// How many connection events the peripheral may sleep through.
    public var latency: UInt16
    /// The supervision timeout, in units of 10 ms; 0xFFFF is no specific one.
    public var timeout: UInt16

    /// Parameters.
    public init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, timeout: UInt16) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.timeout = timeout
    }

    /// Reads eight bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        minimumInterval = try reader.uint16("Minimum Connection Interval")
        maximumInterval = try reader.uint16("Maximum Connection Interval")
        latency = try reader.uint16("Peripheral Latency")
        timeout = try reader.uint16("Connection Supervision Timeout Multiplier")
    }

    /// Writes eight bytes.
    public func write(to writer: inout GATTWriter) {
        for number in [minimumInterval, maximumInterval, latency, timeout] { writer.append(number, bytes: 2) }
    }

    /// `interval 7.50 ms to 15.00 ms, latency 0, timeout 2000 ms`.
    public var description: String {
        func interval(_ raw: UInt16) -> String { raw == 0xFFFF ? "any" : Decimals.fixed(Double(raw) * 1.25, 2) + " ms" }
        let supervision = timeout == 0xFFFF ? "any" : "\(Int(timeout) * 10) ms"
        return "interval \(interval(minimumInterval)) to \(interval(maximumInterval)), latency \(latency), "
            + "timeout \(supervision)"
    }
}
