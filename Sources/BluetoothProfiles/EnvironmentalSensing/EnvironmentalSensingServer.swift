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
    ///   - temperature: The temperature, 21.5 °C by default.
    ///   - humidity: The humidity, 45 % by default.
    ///   - pressure: The pressure, 1013.25 hPa by default.
    ///   - others: What else it measures, made with the characteristics of ``EnvironmentalSensingService``.
    public init(
        temperature: Temperature = Temperature(uncheckedRawNumber: 2_150),
        humidity: Humidity = Humidity(uncheckedRawNumber: 4_500),
        pressure: Pressure = Pressure(uncheckedRawNumber: 1_013_250), others: [any ServedAttribute] = []
    ) {
        self.temperature = ServedValue(EnvironmentalSensingService.temperature, temperature)
        self.humidity = ServedValue(EnvironmentalSensingService.humidity, humidity)
        self.pressure = ServedValue(EnvironmentalSensingService.pressure, pressure)
        self.others = others
    }

    /// Environmental Sensing.
    public var service: CBUUID { EnvironmentalSensingService.uuid }
    /// The temperature, the humidity, the pressure and what else it measures.
    public var values: [any ServedAttribute] { [temperature, humidity, pressure] + others }
}
