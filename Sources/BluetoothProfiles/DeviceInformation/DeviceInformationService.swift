public import CoreBluetooth

/// The service Device Information (180A): its characteristics.
///
/// Source: Device Information Service 1.2.
public enum DeviceInformationService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "180A")
    /// The manufacturer's name (2A29).
    public static let manufacturer = GATTCharacteristic<String>("2A29", in: "180A", .read)
    /// The model (2A24).
    public static let model = GATTCharacteristic<String>("2A24", in: "180A", .read)
    /// The number of this piece (2A25).
    public static let serialNumber = GATTCharacteristic<String>("2A25", in: "180A", .read)
    /// The revision of the hardware (2A27).
    public static let hardwareRevision = GATTCharacteristic<String>("2A27", in: "180A", .read)
    /// The revision of the firmware (2A26).
    public static let firmwareRevision = GATTCharacteristic<String>("2A26", in: "180A", .read)
    /// The revision of the software (2A28).
    public static let softwareRevision = GATTCharacteristic<String>("2A28", in: "180A", .read)
    /// A number that no other system has (2A23).
    public static let systemID = GATTCharacteristic<SystemID>("2A23", in: "180A", .read)
    /// The IEEE 11073-20601 regulatory certification data list (2A2A).
    public static let regulatoryCertification = GATTCharacteristic<Data>("2A2A", in: "180A", .read)
    /// The vendor, the product and its version (2A50).
    public static let pnpID = GATTCharacteristic<PnPID>("2A50", in: "180A", .read)
    /// The identifier of a medical device (2BFF).
    public static let uniqueDeviceIdentifier = GATTCharacteristic<UniqueDeviceIdentifier>("2BFF", in: "180A", .read)
}
