public import CoreBluetooth

/// A sensor of the environment that this program plays.
public final class EnvironmentalSensingServer: ProfileServer {
    /// The temperature; a new one is notified.
    public let temperature: ServedValue<Temperature>
    /// The humidity; a new one is notified.
    public let humidity: ServedValue<Humidity>
    /// The pressure; a new one is notified.
    public let pressure: ServedValue<Pressure>
    private let others: [any ServedAttribute]

    /// A sensor.
    ///
    /// - Parameters:
    ///   - celsius: The temperature in degrees Celsius; nil is not known.
    ///   - humidity: In percent; nil is not known.
    ///   - pressure: In hectopascals.
    ///   - others: What else it measures, made with the characteristics of ``EnvironmentalSensingService``.
    public init(
        celsius: Double? = 21.5, humidity: Double? = 45, pressure: Double = 1013.25,
        others: [any ServedAttribute] = []
    ) {
        temperature = ServedValue(EnvironmentalSensingService.temperature, Temperature(celsius))
        self.humidity = ServedValue(EnvironmentalSensingService.humidity, Humidity(humidity))
        self.pressure = ServedValue(EnvironmentalSensingService.pressure, Pressure(pressure))
        self.others = others
    }

    /// Environmental Sensing.
    public var service: CBUUID { EnvironmentalSensingService.uuid }
    /// The temperature, the humidity, the pressure and what else it measures.
    public var values: [any ServedAttribute] { [temperature, humidity, pressure] + others }
}
