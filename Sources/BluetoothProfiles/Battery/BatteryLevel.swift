/// Battery Level (2A19): the charge in percent.
///
/// Source: Battery Service 1.0, 3.1; GATT Specification Supplement, Battery Level.
public struct BatteryLevel: GATTValue, CustomStringConvertible {
    /// 0...100 percent.
    public let percent: UInt8

    /// A charge, clamped to 0...100 percent.
    public init(percent: Int) { self.percent = UInt8(min(max(percent, 0), 100)) }

    /// Reads a byte.
    ///
    /// - Throws: That it is reserved above 100.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        percent = try reader.uint8("Battery Level", in: 0...100)
    }

    /// Writes a byte.
    public func write(to writer: inout GATTWriter) { writer.append(percent) }

    /// `87 %`.
    public var description: String { "\(percent) %" }
}
