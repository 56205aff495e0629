public import CoreBluetooth

/// The service Current Time (1805): its characteristics.
///
/// Source: Current Time Service 1.1.
public enum CurrentTimeService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "1805")
    /// The time (2A2B).
    public static let time = GATTCharacteristic<CurrentTime>("2A2B", in: "1805", [.read, .write, .notify])
    /// The time zone (2A0F).
    public static let local = GATTCharacteristic<LocalTimeInformation>("2A0F", in: "1805", [.read, .write])
    /// Where the time comes from (2A14).
    public static let reference = GATTCharacteristic<ReferenceTimeInformation>("2A14", in: "1805", .read)
}
