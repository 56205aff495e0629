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
    /// When it was measured, by the thermometer's clock.
    public var timestamp: DateTime?
    /// Where on the body it was measured, where that can change.
    public var type: TemperatureType?

    /// A measurement.
    public init(
        _ temperature: MedicalFloat, unit: Unit = .celsius, timestamp: DateTime? = nil, type: TemperatureType? = nil
    ) {
        self.temperature = temperature
        self.unit = unit
        self.timestamp = timestamp
        self.type = type
    }

    /// The temperature in degrees Celsius; `nan` where there is none.
    public var celsius: Double { unit == .celsius ? temperature.value : (temperature.value - 32) / 1.8 }

    /// True: a client ignores what follows, and flags that it does not know.
    public static var ignoresTrailingBytes: Bool { true }

    /// Reads the flags and what they announce.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint8("Flags")
        unit = flags & 0x01 == 0 ? .celsius : .fahrenheit
        temperature = try reader.float("Temperature Measurement Value")
        timestamp = flags & 0x02 == 0 ? nil : try DateTime(from: &reader)
        type = flags & 0x04 == 0 ? nil : try TemperatureType(from: &reader)
    }

    /// Writes the flags and what there is.
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
