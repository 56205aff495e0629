import BluetoothHCI

/// The descriptors of a dongle for Bluetooth LE: a full-speed device with one interface, for commands, events and ACL data.
///
/// There is no interface for synchronous data, which LE does not have, and no remote wake-up, which USB/IP cannot transport.
///
/// Source: Universal Serial Bus Specification 2.0, 9.6; Core Specification, Vol 4, Part B, 2.1 and 3.
enum USBDescriptors {
    /// The endpoint of events.
    static let eventEndpoint: UInt8 = 1
    static let eventPacketSize = 16
    /// The endpoint of ACL data, in both directions.
    static let dataEndpoint: UInt8 = 2
    static let dataPacketSize = 64
    /// The only configuration.
    static let configurationValue: UInt8 = 1

    private static let isIn: UInt8 = 0x80
    /// Wireless controller, RF controller, Bluetooth.
    private static let bluetoothClass: [UInt8] = [0xE0, 0x01, 0x01]
    private static let strings = ["swift-corebluetooth", "Emulated Bluetooth adapter"]

    /// USB 2.0, packets of 64 bytes, pid.codes' number for tests, release 1.0, the two strings, one configuration.
    static let device: [UInt8] =
        [18, 1, 0x00, 0x02] + bluetoothClass + [64, 0x09, 0x12, 0x01, 0x00, 0x00, 0x01, 1, 2, 0, 1]

    /// Powered by the bus, with 100 mA.
    static let configuration: [UInt8] = {
        let interface =
            [9, 4, 0, 0, 3] + bluetoothClass + [0]
            + endpoint(eventEndpoint | isIn, 3, eventPacketSize, interval: 1)
            + endpoint(dataEndpoint | isIn, 2, dataPacketSize, interval: 0)
            + endpoint(dataEndpoint, 2, dataPacketSize, interval: 0)
        return [9, 2, UInt8(9 + interface.count), 0, 1, configurationValue, 0, 0x80, 50] + interface
    }()

    /// - Returns: nil if there is no string of this index; 0 has the languages, which are American English alone.
    static func string(_ index: UInt8) -> [UInt8]? {
        if index == 0 { return [4, 3, 0x09, 0x04] }
        guard Int(index) <= strings.count else { return nil }
        let bytes = strings[Int(index) - 1].utf16.flatMap(\.bytes)
        return [UInt8(2 + bytes.count), 3] + bytes
    }

    private static func endpoint(_ address: UInt8, _ kind: UInt8, _ size: Int, interval: UInt8) -> [UInt8] {
        [7, 5, address, kind, UInt8(size), 0, interval]
    }
}
