public import CoreBluetooth

/// The service Running Speed and Cadence (1814): its characteristics.
///
/// Source: Running Speed and Cadence Service 1.0.
public enum RunningSpeedAndCadenceService: SpeedSensorService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "1814")
    /// Speed and cadence (2A53).
    public static let measurement = GATTCharacteristic<RSCMeasurement>("2A53", in: "1814", .notify)
    /// What the sensor can do (2A54).
    public static let feature = GATTCharacteristic<RSCFeature>("2A54", in: "1814", .read)
    /// Where the sensor sits (2A5D).
    public static let sensorLocation = GATTCharacteristic<SensorLocation>("2A5D", in: "1814", .read)
    /// Orders to the sensor, answered by indications (2A55).
    public static let controlPoint = GATTCharacteristic<SCControlPointRequest>(
        CBUUID(string: "2A55"), in: uuid, [.write, .indicate])
}
