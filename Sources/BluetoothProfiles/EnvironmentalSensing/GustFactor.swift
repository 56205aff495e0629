/// Gust Factor (2A74): how much faster than the wind its gusts are.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Gust Factor.
public struct GustFactor: ScalarValue {
    /// A number without a unit.
    public static var unit: String { "" }
    /// A resolution of 0.1.
    public static var stepsPerUnit: Int { 10 }
    /// The range that the layout can express.
    public static var range: ClosedRange<UInt8> { 0 ... .max }
    /// The number on the air.
    public let rawNumber: UInt8
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt8) { self.rawNumber = rawNumber }
}
