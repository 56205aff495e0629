/// UV Index (2A76): the strength of the sun's ultraviolet light.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, UV Index.
public struct UVIndex: ScalarValue {
    /// A number without a unit.
    public static var unit: String { "" }
    /// Whole numbers.
    public static var stepsPerUnit: Int { 1 }
    /// The range that the layout can express.
    public static var range: ClosedRange<UInt8> { 0 ... .max }
    /// The number on the air.
    public let rawNumber: UInt8
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt8) { self.rawNumber = rawNumber }
}
