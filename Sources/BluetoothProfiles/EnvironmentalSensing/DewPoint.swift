/// Dew Point (2A7B): the temperature at which water condenses, in degrees Celsius.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Dew Point.
public struct DewPoint: ScalarValue {
    /// °C.
    public static var unit: String { "°C" }
    /// Whole numbers.
    public static var stepsPerUnit: Int { 1 }
    /// The range that the layout can express.
    public static var range: ClosedRange<Int8> { .min ... .max }
    /// The number on the air.
    public let rawNumber: Int8
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: Int8) { self.rawNumber = rawNumber }
}
