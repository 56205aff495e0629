/// Pollen Concentration (2A75): pollen in a cubic metre.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Pollen Concentration.
public struct PollenConcentration: ScalarValue {
    /// 3 bytes.
    public static var byteCount: Int { 3 }
    /// /m³.
    public static var unit: String { "/m³" }
    /// Whole numbers.
    public static var stepsPerUnit: Int { 1 }
    /// The range that the layout can express.
    public static var range: ClosedRange<UInt32> { 0...0xFF_FFFF }
    /// The number on the air.
    public let rawNumber: UInt32
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt32) { self.rawNumber = rawNumber }
}
