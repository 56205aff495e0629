/// Temperature (2A6E): a temperature in degrees Celsius.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Temperature.
public struct Temperature: ScalarValue {
    /// `sint16` in steps of 0.01, from absolute zero up; 0x8000 is unknown.
    public static var layout: ScalarLayout<Int16> {
        ScalarLayout(unit: "°C", stepsPerUnit: 100, range: -27_315 ... .max, unknown: .min)
    }
    /// The encoded number.
    public let rawNumber: Int16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: Int16) { self.rawNumber = rawNumber }
}

/// Humidity (2A6F): the relative humidity in percent.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Humidity.
public struct Humidity: ScalarValue {
    /// `uint16` in steps of 0.01, 0 to 100 %; 0xFFFF is unknown.
    public static var layout: ScalarLayout<UInt16> {
        ScalarLayout(unit: "%", stepsPerUnit: 100, range: 0...10_000, unknown: .max)
    }
    /// The encoded number.
    public let rawNumber: UInt16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}

/// Pressure (2A6D): the air pressure in hectopascals.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Pressure.
public struct Pressure: ScalarValue {
    /// `uint32` in steps of 0.001 hPa, which is 0.1 Pa.
    public static var layout: ScalarLayout<UInt32> { ScalarLayout(unit: "hPa", stepsPerUnit: 1_000) }
    /// The encoded number.
    public let rawNumber: UInt32
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt32) { self.rawNumber = rawNumber }
}

/// Elevation (2A6C): the height above sea level in meters.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Elevation.
public struct Elevation: ScalarValue {
    /// `sint24` in steps of 0.01.
    public static var layout: ScalarLayout<Int32> {
        ScalarLayout(unit: "m", stepsPerUnit: 100, range: -0x80_0000...0x7F_FFFF, byteCount: 3)
    }
    /// The encoded number.
    public let rawNumber: Int32
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: Int32) { self.rawNumber = rawNumber }
}

/// True Wind Speed (2A70): the speed of the wind over ground in meters per second.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, True Wind Speed.
public struct TrueWindSpeed: ScalarValue {
    /// `uint16` in steps of 0.01.
    public static var layout: ScalarLayout<UInt16> { ScalarLayout(unit: "m/s", stepsPerUnit: 100) }
    /// The encoded number.
    public let rawNumber: UInt16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}

/// True Wind Direction (2A71): the direction from which the wind blows, in degrees clockwise from north.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, True Wind Direction.
public struct TrueWindDirection: ScalarValue {
    /// `uint16` in steps of 0.01, 0 to 359.99°.
    public static var layout: ScalarLayout<UInt16> { ScalarLayout(unit: "°", stepsPerUnit: 100, range: 0...35_999) }
    /// The encoded number.
    public let rawNumber: UInt16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}

/// Apparent Wind Speed (2A72): the speed of the wind relative to a moving sensor, in meters per second.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Apparent Wind Speed.
public struct ApparentWindSpeed: ScalarValue {
    /// `uint16` in steps of 0.01.
    public static var layout: ScalarLayout<UInt16> { ScalarLayout(unit: "m/s", stepsPerUnit: 100) }
    /// The encoded number.
    public let rawNumber: UInt16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}

/// Apparent Wind Direction (2A73): the direction of the wind relative to a moving sensor, in degrees clockwise from the
/// heading.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Apparent Wind Direction.
public struct ApparentWindDirection: ScalarValue {
    /// `uint16` in steps of 0.01, 0 to 359.99°.
    public static var layout: ScalarLayout<UInt16> { ScalarLayout(unit: "°", stepsPerUnit: 100, range: 0...35_999) }
    /// The encoded number.
    public let rawNumber: UInt16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}

/// Gust Factor (2A74): the ratio between the speed of the gusts and that of the wind.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Gust Factor.
public struct GustFactor: ScalarValue {
    /// `uint8` in steps of 0.1.
    public static var layout: ScalarLayout<UInt8> { ScalarLayout(stepsPerUnit: 10) }
    /// The encoded number.
    public let rawNumber: UInt8
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt8) { self.rawNumber = rawNumber }
}

/// Pollen Concentration (2A75): the pollen in a cubic meter.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Pollen Concentration.
public struct PollenConcentration: ScalarValue {
    /// `uint24` in whole numbers.
    public static var layout: ScalarLayout<UInt32> { ScalarLayout(unit: "/m³", range: 0...0xFF_FFFF, byteCount: 3) }
    /// The encoded number.
    public let rawNumber: UInt32
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt32) { self.rawNumber = rawNumber }
}

/// UV Index (2A76): the strength of the sun's ultraviolet light.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, UV Index.
public struct UVIndex: ScalarValue {
    /// `uint8` in whole numbers.
    public static var layout: ScalarLayout<UInt8> { ScalarLayout() }
    /// The encoded number.
    public let rawNumber: UInt8
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt8) { self.rawNumber = rawNumber }
}

/// Irradiance (2A77): the power of light in watts per square meter.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Irradiance.
public struct Irradiance: ScalarValue {
    /// `uint16` in steps of 0.1.
    public static var layout: ScalarLayout<UInt16> { ScalarLayout(unit: "W/m²", stepsPerUnit: 10) }
    /// The encoded number.
    public let rawNumber: UInt16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}

/// Rainfall (2A78): rain in millimeters.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Rainfall.
public struct Rainfall: ScalarValue {
    /// `uint16` in whole numbers.
    public static var layout: ScalarLayout<UInt16> { ScalarLayout(unit: "mm") }
    /// The encoded number.
    public let rawNumber: UInt16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}

/// Wind Chill (2A79): the perceived temperature in wind, in degrees Celsius.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Wind Chill.
public struct WindChill: ScalarValue {
    /// `sint8` in whole numbers.
    public static var layout: ScalarLayout<Int8> { ScalarLayout(unit: "°C") }
    /// The encoded number.
    public let rawNumber: Int8
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: Int8) { self.rawNumber = rawNumber }
}

/// Heat Index (2A7A): the perceived temperature in humid air, in degrees Celsius.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Heat Index.
public struct HeatIndex: ScalarValue {
    /// `sint8` in whole numbers.
    public static var layout: ScalarLayout<Int8> { ScalarLayout(unit: "°C") }
    /// The encoded number.
    public let rawNumber: Int8
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: Int8) { self.rawNumber = rawNumber }
}

/// Dew Point (2A7B): the temperature at which water condenses, in degrees Celsius.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Dew Point.
public struct DewPoint: ScalarValue {
    /// `sint8` in whole numbers.
    public static var layout: ScalarLayout<Int8> { ScalarLayout(unit: "°C") }
    /// The encoded number.
    public let rawNumber: Int8
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: Int8) { self.rawNumber = rawNumber }
}

/// Magnetic Declination (2A2C): the angle between magnetic and true north, in degrees clockwise.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Magnetic Declination.
public struct MagneticDeclination: ScalarValue {
    /// `uint16` in steps of 0.01, 0 to 359.99°.
    public static var layout: ScalarLayout<UInt16> { ScalarLayout(unit: "°", stepsPerUnit: 100, range: 0...35_999) }
    /// The encoded number.
    public let rawNumber: UInt16
    /// Creates a quantity from its encoded number.
    public init(uncheckedRawNumber rawNumber: UInt16) { self.rawNumber = rawNumber }
}

/// Barometric Pressure Trend (2AA3): the change of the pressure in three hours.
///
/// Source: Environmental Sensing Service 1.0, 3.1; GATT Specification Supplement, Barometric Pressure Trend.
public enum BarometricPressureTrend: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// The trend is not known.
    case unknown = 0
    /// The pressure fell all the time.
    case continuouslyFalling
    /// The pressure rose all the time.
    case continuouslyRising
    /// The pressure fell, then was steady.
    case fallingThenSteady
    /// The pressure rose, then was steady.
    case risingThenSteady
    /// The pressure fell, then rose less.
    case fallingBeforeLesserRise
    /// The pressure fell, then rose more.
    case fallingBeforeGreaterRise
    /// The pressure rose, then fell more.
    case risingBeforeGreaterFall
    /// The pressure rose, then fell less.
    case risingBeforeLesserFall
    /// The pressure was steady.
    case steady

    private static let names = [
        "not known", "continuously falling", "continuously rising", "falling, then steady", "rising, then steady",
        "falling before a lesser rise", "falling before a greater rise", "rising before a greater fall",
        "rising before a lesser fall", "steady",
    ]

    /// The value in words.
    public var description: String { Self.names[Int(rawValue)] }
}
