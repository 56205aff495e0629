public import AsyncBluetooth
public import CoreBluetooth

/// The service Health Thermometer (1809): its characteristics.
///
/// Source: Health Thermometer Service 1.0.
public enum HealthThermometerService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "1809")
    /// The temperature (2A1C).
    public static let measurement = GATTCharacteristic<TemperatureMeasurement>("2A1C", in: "1809", .indicate)
    /// The measurement site, if it never changes (2A1D).
    public static let type = GATTCharacteristic<TemperatureType>("2A1D", in: "1809", .read)
    /// The temperature while it is being measured (2A1E).
    public static let intermediate = GATTCharacteristic<TemperatureMeasurement>("2A1E", in: "1809", .notify)
    /// The time between measurements (2A21).
    public static let interval = GATTCharacteristic<MeasurementInterval>(
        CBUUID(string: "2A21"), in: uuid, [.read, .write, .indicate])
}

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

    /// True: a client ignores unknown flags and the fields after them.
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

/// Temperature Type (2A1D): the site on the body where the temperature is measured.
///
/// Source: Health Thermometer Service 1.0, 3.2; GATT Specification Supplement, Temperature Type.
public enum TemperatureType: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// In the armpit.
    case armpit = 1
    /// On the body, in general.
    case body
    /// In the ear, usually the lobe.
    case ear
    /// On a finger.
    case finger
    /// In the gastro-intestinal tract.
    case gastrointestinalTract
    /// In the mouth.
    case mouth
    /// In the rectum.
    case rectum
    /// On a toe.
    case toe
    /// On the eardrum.
    case eardrum

    private static let names = [
        "armpit", "body", "ear", "finger", "gastro-intestinal tract", "mouth", "rectum", "toe", "eardrum",
    ]

    /// In words.
    public var description: String { Self.names[Int(rawValue) - 1] }
}

/// Measurement Interval (2A21): the time between measurements.
///
/// Source: Health Thermometer Service 1.0, 3.4; GATT Specification Supplement, Measurement Interval.
public struct MeasurementInterval: GATTValue, CustomStringConvertible {
    /// 1...65,535 s; 0 makes no periodic measurements.
    public var seconds: UInt16

    /// An interval in seconds.
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

/// A thermometer.
public struct HealthThermometerClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The thermometer of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// The temperatures that it indicates.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, TemperatureMeasurement> {
        peripheral.values(of: HealthThermometerService.measurement)
    }

    /// The temperatures while it is measuring.
    public var intermediateTemperatures: AsyncThrowingMapSequence<ValueSequence<Data>, TemperatureMeasurement> {
        peripheral.values(of: HealthThermometerService.intermediate)
    }

    /// Reads the measurement site; nil if the device does not report it, or reports it with each measurement.
    public func type() async throws -> TemperatureType? {
        try await peripheral.readIfPresent(HealthThermometerService.type)
    }

    /// Reads the time between measurements; nil if the thermometer lacks the characteristic.
    public func interval() async throws -> MeasurementInterval? {
        try await peripheral.readIfPresent(HealthThermometerService.interval)
    }

    /// Sets the time between measurements.
    ///
    /// - Throws: ATT error 0x80, "Out of Range", outside of the thermometer's range.
    public func setInterval(_ interval: MeasurementInterval) async throws {
        try await peripheral.write(interval, to: HealthThermometerService.interval)
    }
}

/// A simulated thermometer.
///
/// While a central subscribes, it indicates the temperature with its date at each interval, which clients may change:
/// a new interval begins with the next measurement.
public final class HealthThermometerServer: ProfileServer {
    /// The indicated measurement.
    public let measurement = ServedValue(HealthThermometerService.measurement)
    /// The intermediate temperature; an app sends it.
    public let intermediate = ServedValue(HealthThermometerService.intermediate)
    /// The measurement site.
    public let type: ServedValue<TemperatureType>
    /// The time between measurements; a new one is indicated.
    public let interval: ServedValue<MeasurementInterval>
    private let celsius: @Sendable () -> Double?

    /// A thermometer.
    ///
    /// - Parameters:
    ///   - type: The measurement site.
    ///   - interval: The seconds between measurements; 0 makes none.
    ///   - validIntervals: The seconds that clients may set; others are refused with 0x80, "Out of Range".
    ///   - celsius: Measures, in degrees Celsius; nil measures nothing this time. 36.6 by default. More than 838,860.5
    ///     degrees either way are indicated as an infinity, above or below the measurable range.
    public init(
        type: TemperatureType = .body, interval: UInt16 = 10, validIntervals: ClosedRange<UInt16> = 1...3600,
        celsius: @escaping @Sendable () -> Double? = { 36.6 }
    ) {
        self.celsius = celsius
        self.type = ServedValue(HealthThermometerService.type, type)
        self.interval = ServedValue(
            HealthThermometerService.interval, MeasurementInterval(seconds: interval),
            accept: { wanted in
                guard validIntervals.contains(wanted.seconds) else {
                    throw CBATTError(CBATTError.Code(rawValue: 0x80) ?? .unlikelyError)
                }
            })
    }

    /// Health Thermometer.
    public var service: CBUUID { HealthThermometerService.uuid }
    /// The measurement, its type, the intermediate temperature and the interval.
    public var values: [any ServedAttribute] { [measurement, type, intermediate, interval] }

    /// Sends measurements while a central subscribes.
    public func start(_ context: ServerContext) {
        let interval = interval
        context.repeat(
            every: { interval.value.map { .seconds(Int($0.seconds)) } }, whileSubscribedTo: measurement
        ) { [self] in
            guard let celsius = celsius() else { return }
            measurement.send(TemperatureMeasurement(MedicalFloat(measured: celsius), timestamp: DateTime(context.date)))
        }
    }
}
