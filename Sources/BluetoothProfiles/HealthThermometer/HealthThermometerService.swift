public import CoreBluetooth

/// The service Health Thermometer (1809): its characteristics.
///
/// Source: Health Thermometer Service 1.0.
public enum HealthThermometerService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "1809")
    /// The temperature (2A1C).
    public static let measurement = GATTCharacteristic<TemperatureMeasurement>("2A1C", in: "1809", .indicate)
    /// Where it is measured, if that never changes (2A1D).
    public static let type = GATTCharacteristic<TemperatureType>("2A1D", in: "1809", .read)
    /// The temperature while it is being measured (2A1E).
    public static let intermediate = GATTCharacteristic<TemperatureMeasurement>("2A1E", in: "1809", .notify)
    /// The time between measurements (2A21).
    public static let interval = GATTCharacteristic<MeasurementInterval>(
        CBUUID(string: "2A21"), in: uuid, [.read, .write, .indicate])
}
