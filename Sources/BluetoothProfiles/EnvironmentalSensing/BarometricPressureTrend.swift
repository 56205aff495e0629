/// Barometric Pressure Trend (2AA3): how the pressure changed in three hours.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Barometric Pressure Trend.
public enum BarometricPressureTrend: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// Not known.
    case unknown = 0
    /// It fell all the time.
    case continuouslyFalling
    /// It rose all the time.
    case continuouslyRising
    /// It fell, then stood.
    case fallingThenSteady
    /// It rose, then stood.
    case risingThenSteady
    /// It fell, then rose less.
    case fallingBeforeLesserRise
    /// It fell, then rose more.
    case fallingBeforeGreaterRise
    /// It rose, then fell more.
    case risingBeforeGreaterFall
    /// It rose, then fell less.
    case risingBeforeLesserFall
    /// It stood.
    case steady

    private static let names = [
        "not known", "continuously falling", "continuously rising", "falling, then steady", "rising, then steady",
        "falling before a lesser rise", "falling before a greater rise", "rising before a greater fall",
        "rising before a lesser fall", "steady",
    ]

    /// In words.
    public var description: String { Self.names[Int(rawValue)] }
}
