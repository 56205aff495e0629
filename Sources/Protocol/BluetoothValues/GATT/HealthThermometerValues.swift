/// Temperature Measurement (2A1C) and Intermediate Temperature (2A1E).
///
/// Source: Health Thermometer Service 1.0, 3.1; GATT Specification Supplement, Temperature Measurement.
public struct TemperatureMeasurement: GATTValue, CustomStringConvertible {
    /// The unit of a temperature.
    public enum Unit: Hashable, Sendable, CaseIterable {
        /// Degrees Celsius.
        case celsius
        /// Degrees Fahrenheit.
        case fahrenheit
    }

    /// The temperature with its precision, in ``unit``.
    public var temperature: MedicalFloat
    /// The unit of ``temperature``.
    public var unit: Unit
    /// The time of the measurement, by the thermometer's clock.
    public var timestamp: DateTime?
    /// The measurement site, if it can change.
    public var type: TemperatureType?

    /// Creates a measurement.
    public init(
        _ temperature: MedicalFloat, unit: Unit = .celsius, timestamp: DateTime? = nil, type: TemperatureType? = nil
    ) {
        self.temperature = temperature
        self.unit = unit
        self.timestamp = timestamp
        self.type = type
    }

    /// The temperature in degrees Celsius; `nan` without a temperature.
    public var celsius: Double { unit == .celsius ? temperature.value : (temperature.value - 32) / 1.8 }

    /// True, because a client ignores unknown flags and the fields after them.
    public static var ignoresTrailingBytes: Bool { true }

    /// Reads the flags and the fields that they announce.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint8("Flags")
        unit = flags & 0x01 == 0 ? .celsius : .fahrenheit
        temperature = try reader.float("Temperature Measurement Value")
        timestamp = flags & 0x02 == 0 ? nil : try DateTime(from: &reader)
        type = flags & 0x04 == 0 ? nil : try TemperatureType(from: &reader)
    }

    /// Writes the flags and the present fields.
    public func write(to writer: inout GATTWriter) {
        writer.append(UInt8((unit == .fahrenheit ? 1 : 0) | (timestamp == nil ? 0 : 2) | (type == nil ? 0 : 4)))
        writer.append(temperature)
        if let timestamp { writer.append(timestamp) }
        if let type { writer.append(type) }
    }

    /// `36.4 °C, 2024-02-29 09:05:07, ear`.
    public var description: String {
        let degrees = "\(temperature) " + (unit == .celsius ? "°C" : "°F")
        return [degrees, timestamp?.description, type?.description].compactMap { $0 }.joined(separator: ", ")
    }
}

/// Temperature Type (2A1D): the measurement site on the body.
///
/// Source: Health Thermometer Service 1.0, 3.2; GATT Specification Supplement, Temperature Type.
public enum TemperatureType: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// The armpit.
    case armpit = 1
    /// The body, in general.
    case body
    /// The ear, usually the lobe.
    case ear
    /// A finger.
    case finger
    /// The gastro-intestinal tract.
    case gastrointestinalTract
    /// The mouth.
    case mouth
    /// The rectum.
    case rectum
    /// A toe.
    case toe
    /// The eardrum.
    case eardrum

    private static let names = [
        "armpit", "body", "ear", "finger", "gastro-intestinal tract", "mouth", "rectum", "toe", "eardrum",
    ]

    /// The value in words.
    public var description: String { Self.names[Int(rawValue) - 1] }
}

/// Measurement Interval (2A21): the time between measurements.
///
/// Source: Health Thermometer Service 1.0, 3.4; GATT Specification Supplement, Measurement Interval.
public struct MeasurementInterval: GATTValue, CustomStringConvertible {
    /// The interval, 1...65,535 s; 0 means no periodic measurements.
    public var seconds: UInt16

    /// Creates an interval in seconds.
    public init(seconds: UInt16) { self.seconds = seconds }

    /// Reads two bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        seconds = try reader.uint16("Measurement Interval")
    }

    /// Writes two bytes.
    public func write(to writer: inout GATTWriter) { writer.append(seconds) }

    /// `10 s`.
    public var description: String { seconds == 0 ? "no periodic measurement" : "\(seconds) s" }
}
