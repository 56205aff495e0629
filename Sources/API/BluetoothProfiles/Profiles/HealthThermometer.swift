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

/// A client of a thermometer.
public struct HealthThermometerClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// Creates a client of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// The temperatures that the device indicates.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, TemperatureMeasurement> {
        peripheral.values(of: HealthThermometerService.measurement)
    }

    /// The temperatures during the measurement.
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
    /// The time between measurements; a new value is indicated.
    public let interval: ServedValue<MeasurementInterval>
    private let celsius: @Sendable () -> Double?

    /// Creates a thermometer.
    ///
    /// - Parameters:
    ///   - type: The measurement site.
    ///   - interval: The seconds between measurements; 0 for none.
    ///   - validIntervals: The seconds that clients may set; others are refused with 0x80, "Out of Range".
    ///   - celsius: Returns the measured temperature in degrees Celsius; nil measures nothing this time. 36.6 by
    ///     default. More than 838,860.5 degrees either way are indicated as an infinity, above or below the measurable
    ///     range.
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

    /// The UUID of the service Health Thermometer.
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
