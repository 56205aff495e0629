import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device whose advertised name has line breaks and marks of direction, and whose GAP Device Name is 248 bytes that
    /// are no UTF-8.
    ///
    /// Finds apps that sort, print or store names as they come, and apps that take a device's name for its identity.
    public static let strangeName = PeripheralDescription(
        name: String(repeating: "\u{1F9EA}", count: 62),
        advertising: [AdvertisingDescription(AdvertisingData(localName: "\u{202E}Strange\r\n\u{7}\u{0}Name"))],
        services: [.plain], handler: .strangeName)
}

/// Breaks its GAP Device Name before anybody reads it.
public struct StrangeNameHandler: EmulatedPeripheralHandler {
    static let name = Data(repeating: 0xFF, count: 124) + Data(repeating: 0xC3, count: 124)

    /// A device with a strange name.
    public init() {}

    /// Sets the name's bytes.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        if case .connected = event { device.setValue(Self.name, of: CharacteristicPath("2A00", service: "1800")) }
    }
}
