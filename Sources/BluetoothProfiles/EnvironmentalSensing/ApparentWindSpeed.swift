/// Apparent Wind Speed (2A72): the speed of the wind for one who moves, in metres per second.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Apparent Wind Speed.
public struct ApparentWindSpeed: ScalarValue {
    /// m/s.
    public static var unit: String { "m/s" }
    /// A resolution of 0.01.
    public static var stepsPerUnit: Int { 100 }
    /// The range that the layout can express.
    public static var range: ClosedRange<UInt16> { 0 ... .max }
    /// The number on the air.
    public let rawNumber: UInt16
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}
