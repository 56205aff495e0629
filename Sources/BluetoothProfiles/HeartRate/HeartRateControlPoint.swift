/// Heart Rate Control Point (2A39): an order to the sensor.
///
/// A sensor refuses other orders with ATT error 0x80. Source: Heart Rate Service 1.0, 3.3.
public enum HeartRateControlPoint: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// Counts the energy expended from 0 again.
    case resetEnergyExpended = 1

    /// In words.
    public var description: String { "reset energy expended" }
}
