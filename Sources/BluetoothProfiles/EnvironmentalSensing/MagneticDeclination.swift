/// Magnetic Declination (2A2C): the angle between magnetic and true north, in degrees clockwise.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Magnetic Declination.
public struct MagneticDeclination: ScalarValue {
    /// °.
    public static var unit: String { "°" }
    /// A resolution of 0.01.
    public static var stepsPerUnit: Int { 100 }
    /// 0...359.99 degrees.
    public static var range: ClosedRange<UInt16> { 0...35_999 }
    /// The number on the air.
    public let rawNumber: UInt16
    /// A quantity from the number on the air.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}
