/// Temperature (2A6E): a temperature in degrees Celsius.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Temperature.
public struct Temperature: ScalarValue {
    /// °C.
    public static var unit: String { "°C" }
    /// A resolution of 0.01.
    public static var stepsPerUnit: Int { 100 }
    /// From absolute zero up.
    public static var range: ClosedRange<Int16> { -27_315 ... .max }
    /// 0x8000.
    public static var unknown: Int16? { .min }
    /// The number on the air.
    public let rawNumber: Int16
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: Int16) { self.rawNumber = rawNumber }
}
