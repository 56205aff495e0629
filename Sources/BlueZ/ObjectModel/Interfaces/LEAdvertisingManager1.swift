#if os(Linux)
import BluetoothDBus

/// `org.bluez.LEAdvertisingManager1`: what a local controller can advertise.
struct LEAdvertisingManager1: RemoteInterface {
    static let interface = "org.bluez.LEAdvertisingManager1"

    /// Whether the controller has the extended advertising of Bluetooth 5, for which alone there are secondary channels.
    ///
    /// The kernel then scans and connects the extended way, too.
    /// Source: BlueZ, org.bluez.LEAdvertisingManager, SupportedSecondaryChannels.
    private(set) var isExtended = false

    init(path: ObjectPath) {}

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> NoChanges {
        if property == "SupportedSecondaryChannels" { isExtended = try !value.strings().isEmpty }
        return []
    }

    mutating func remove(_ property: String) {
        if property == "SupportedSecondaryChannels" { isExtended = false }
    }
}
#endif
