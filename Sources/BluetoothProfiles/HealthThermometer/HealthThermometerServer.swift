public import CoreBluetooth

/// A thermometer that this program plays.
///
/// While a central subscribes, it indicates the temperature with its date at each interval, which clients may change:
/// a new interval begins with the next measurement.
public final class HealthThermometerServer: ProfileServer {
    /// What is indicated.
    public let measurement = ServedValue(HealthThermometerService.measurement)
    /// What is notified meanwhile; an app sends it.
    public let intermediate = ServedValue(HealthThermometerService.intermediate)
    /// Where it measures.
    public let type: ServedValue<TemperatureType>
    /// The time between measurements; a new one is indicated.
    public let interval: ServedValue<MeasurementInterval>
    private let celsius: @Sendable () -> Double?

    /// A thermometer.
    ///
    /// - Parameters:
    ///   - type: Where it measures.
    ///   - interval: The seconds between measurements; 0 makes none.
    ///   - validIntervals: The seconds that clients may set; others are refused with 0x80, "Out of Range".
    ///   - celsius: Measures, in degrees Celsius; nil measures nothing this time. 36.6 by default. More than 838,860.5
    ///     degrees either way are indicated as an infinity, "above" or "below what can be measured".
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

    /// Measures while a central subscribes.
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
