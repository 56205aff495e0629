public import CoreBluetooth

/// The service Nordic UART: its characteristics.
///
/// Source: Nordic Semiconductor, "Nordic UART Service (NUS)", nRF Connect SDK.
public enum NordicUARTService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
    /// What the device receives.
    public static let receive = GATTCharacteristic<Data>(
        CBUUID(string: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"), in: uuid, [.write, .writeWithoutResponse])
    /// What the device sends.
    public static let transmit = GATTCharacteristic<Data>(
        CBUUID(string: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"), in: uuid, .notify)
}
