public import CoreBluetooth

/// The service Battery (180F): its characteristics.
///
/// Source: Battery Service 1.0.
public enum BatteryService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "180F")
    /// The charge (2A19).
    public static let level = GATTCharacteristic<BatteryLevel>("2A19", in: "180F", [.read, .notify])
}
