/// Humidity (2A6F): the relative humidity in percent.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Humidity.
public struct Humidity: ScalarValue {
    /// %.
    public static var unit: String { "%" }
    /// A resolution of 0.01.
    public static var stepsPerUnit: Int { 100 }
    /// 0...100 %.
    public static var range: ClosedRange<UInt16> { 0...10_000 }
    /// 0xFFFF.
    public static var unknown: UInt16? { .max }
    /// The number on the air.
    public let rawNumber: UInt16
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}
