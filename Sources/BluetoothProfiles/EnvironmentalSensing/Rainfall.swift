/// Rainfall (2A78): rain in millimetres.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Rainfall.
public struct Rainfall: ScalarValue {
    /// mm.
    public static var unit: String { "mm" }
    /// Whole numbers.
    public static var stepsPerUnit: Int { 1 }
    /// The range that the layout can express.
    public static var range: ClosedRange<UInt16> { 0 ... .max }
    /// The number on the air.
    public let rawNumber: UInt16
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}
