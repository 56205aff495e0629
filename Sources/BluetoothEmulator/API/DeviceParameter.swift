/// Something about a device that a test, a tool or a world file sets: its battery level, the wearer's heart rate.
///
/// The constants are those of the built-in devices; a handler of your own may have any.
public struct DeviceParameter: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name, as in world files.
    public let rawValue: String
    /// Takes a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A name in source code.
    public init(stringLiteral value: String) { rawValue = value }

    /// The battery's charge, 0...100 percent.
    public static let batteryLevel: DeviceParameter = "batteryLevel"
    /// The heart rate, 0...65,535 beats per minute.
    ///
    /// While it is not set, it goes up and down between 60 and 90.
    public static let heartRate: DeviceParameter = "heartRate"
    /// Whether the heart rate sensor touches the skin: 0 or 1.
    public static let sensorContact: DeviceParameter = "sensorContact"
    /// Whether the heart rate sensor can tell if it touches the skin: 0 or 1.
    public static let sensorContactSupported: DeviceParameter = "sensorContactSupported"
    /// The energy expended, 0...65,535 kJ.
    public static let energyExpended: DeviceParameter = "energyExpended"
    /// The temperature, -100...300 in the thermometer's unit.
    public static let temperature: DeviceParameter = "temperature"
    /// Whether the thermometer measures in degrees Fahrenheit: 0 or 1.
    public static let fahrenheit: DeviceParameter = "fahrenheit"
    /// The time between two measurements of the thermometer, 0...65,535 s; 0 makes none.
    public static let measurementInterval: DeviceParameter = "measurementInterval"
    /// The cadence, 0...400 revolutions of the crank per minute.
    public static let cadence: DeviceParameter = "cadence"
    /// The speed, 0...2,000 revolutions of the wheel per minute.
    public static let wheelRate: DeviceParameter = "wheelRate"
    /// By how much the device's clock is fast, -1e9...1e9 s.
    public static let timeOffset: DeviceParameter = "timeOffset"
    /// The time zone, in quarters of an hour east of UTC: -48...56.
    public static let timeZone: DeviceParameter = "timeZone"
    /// The daylight saving time, in quarters of an hour: 0, 2, 4 or 8.
    public static let daylightSaving: DeviceParameter = "daylightSaving"
}

extension Double {
    /// The nearest whole number in a range; what is no number becomes the lower bound.
    func whole(in range: ClosedRange<Int>) -> Int {
        guard self > Double(range.lowerBound) else { return range.lowerBound }
        return self < Double(range.upperBound) ? Int(rounded()) : range.upperBound
    }
}
