#if os(Linux)
import BluetoothDBus

/// `org.bluez.LEAdvertisingManager1`: what a local controller can advertise.
struct LEAdvertisingManager1: RemoteInterface {
    struct Changes: OptionSet {
        let rawValue: UInt8
    }

    static let interface = "org.bluez.LEAdvertisingManager1"

    /// Whether the controller has the extended advertising of Bluetooth 5, for which alone there are secondary channels.
    ///
    /// The kernel then scans and connects the extended way, too.
    /// Source: BlueZ, org.bluez.LEAdvertisingManager, SupportedSecondaryChannels.
    private(set) var isExtended = false

    mutating func set(_ property: String, to value: DBusValue?) -> Changes? {
        guard property == "SupportedSecondaryChannels" else { return [] }
        guard let value else {
            isExtended = false
            return []
        }
        guard let channels = value.stringsValue else { return nil }
        isExtended = !channels.isEmpty
        return []
    }
}
#endif
