/// Pressure (2A6D): the pressure of the air in hectopascals.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Pressure.
public struct Pressure: ScalarValue {
    /// hPa.
    public static var unit: String { "hPa" }
    /// A resolution of 0.001, which is 0.1 Pa.
    public static var stepsPerUnit: Int { 1_000 }
    /// The range that the layout can express.
    public static var range: ClosedRange<UInt32> { 0 ... .max }
    /// The number on the air.
    public let rawNumber: UInt32
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt32) { self.rawNumber = rawNumber }
}
