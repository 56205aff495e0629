/// Irradiance (2A77): the power of light in watts per square metre.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Irradiance.
public struct Irradiance: ScalarValue {
    /// W/m².
    public static var unit: String { "W/m²" }
    /// A resolution of 0.1.
    public static var stepsPerUnit: Int { 10 }
    /// The range that the layout can express.
    public static var range: ClosedRange<UInt16> { 0 ... .max }
    /// The number on the air.
    public let rawNumber: UInt16
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}
