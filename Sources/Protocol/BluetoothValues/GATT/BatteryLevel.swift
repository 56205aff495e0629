/// Battery Level (2A19): the charge in percent.
///
/// Source: Battery Service 1.0, 3.1; GATT Specification Supplement, Battery Level.
public struct BatteryLevel: GATTValue, CustomStringConvertible {
    /// The charge in percent, 0...100.
    public let percent: UInt8

    /// A charge of 100 percent.
    public static let full = BatteryLevel(checked: 100)

    private init(checked percent: UInt8) { self.percent = percent }

    /// Creates a charge.
    ///
    /// - Throws: ``GATTValueError`` for a charge outside 0...100 percent.
    public init(percent: Int) throws(GATTValueError) {
        self.percent = try Self.checked(percent, "Battery Level", in: 0...100)
    }

    /// Reads a byte.
    ///
    /// - Throws: ``GATTValueError`` for a number above 100, which is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        percent = try reader.uint8("Battery Level", in: 0...100)
    }

    /// Writes a byte.
    public func write(to writer: inout GATTWriter) { writer.append(percent) }

    /// `87 %`.
    public var description: String { "\(percent) %" }
}
