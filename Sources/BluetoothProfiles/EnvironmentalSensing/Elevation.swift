/// Elevation (2A6C): the height above sea level in metres.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Elevation.
public struct Elevation: ScalarValue {
    /// 3 bytes.
    public static var byteCount: Int { 3 }
    /// m.
    public static var unit: String { "m" }
    /// A resolution of 0.01.
    public static var stepsPerUnit: Int { 100 }
    /// The range that the layout can express.
    public static var range: ClosedRange<Int32> { -0x80_0000...0x7F_FFFF }
    /// The number on the air.
    public let rawNumber: Int32
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: Int32) { self.rawNumber = rawNumber }
}
