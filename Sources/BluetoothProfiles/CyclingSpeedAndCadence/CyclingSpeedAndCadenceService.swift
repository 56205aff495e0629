public import CoreBluetooth

/// The service Cycling Speed and Cadence (1816): its characteristics.
///
/// Source: Cycling Speed and Cadence Service 1.0.
public enum CyclingSpeedAndCadenceService: SpeedSensorService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "1816")
    /// The revolutions (2A5B).
    public static let measurement = GATTCharacteristic<CSCMeasurement>("2A5B", in: "1816", .notify)
    /// What the sensor can do (2A5C).
    public static let feature = GATTCharacteristic<CSCFeature>("2A5C", in: "1816", .read)
    /// Where the sensor sits (2A5D).
    public static let sensorLocation = GATTCharacteristic<SensorLocation>("2A5D", in: "1816", .read)
    /// Orders to the sensor, answered by indications (2A55).
    public static let controlPoint = GATTCharacteristic<SCControlPointRequest>(
        CBUUID(string: "2A55"), in: uuid, [.write, .indicate])
}
