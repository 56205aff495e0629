/// A service of a sensor of speed and cadence, a cyclist's or a runner's: both have the same kinds of characteristics.
///
/// Sources: Cycling Speed and Cadence Service 1.0, 3; Running Speed and Cadence Service 1.0, 3.
public protocol SpeedSensorService {
    /// What is measured.
    associatedtype Measurement: GATTValue
    /// What a sensor can do.
    associatedtype Feature: GATTValue

    /// What is notified, about each second.
    static var measurement: GATTCharacteristic<Measurement> { get }
    /// What the sensor can do.
    static var feature: GATTCharacteristic<Feature> { get }
    /// Where the sensor sits (2A5D).
    static var sensorLocation: GATTCharacteristic<SensorLocation> { get }
    /// Orders to the sensor, answered by indications (2A55).
    static var controlPoint: GATTCharacteristic<SCControlPointRequest> { get }
}
