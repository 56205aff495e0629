public import CoreBluetooth

/// The service Heart Rate (180D): its characteristics.
///
/// Source: Heart Rate Service 1.0.
public enum HeartRateService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "180D")
    /// What the sensor measures (2A37).
    public static let measurement = GATTCharacteristic<HeartRateMeasurement>("2A37", in: "180D", .notify)
    /// Where the sensor sits (2A38).
    public static let bodySensorLocation = GATTCharacteristic<BodySensorLocation>("2A38", in: "180D", .read)
    /// Orders to the sensor (2A39).
    public static let controlPoint = GATTCharacteristic<HeartRateControlPoint>("2A39", in: "180D", .write)
}
