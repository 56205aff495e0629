#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// `org.bluez.GattService1`: a service of a remote device.
struct GattService1: RemoteInterface {
    struct Changes: OptionSet {
        let rawValue: UInt8
    }

    static let interface = "org.bluez.GattService1"

    private(set) var uuid: BluetoothUUID?
    private(set) var isPrimary = true
    /// Filled in later than the service itself.
    private(set) var includes: [ObjectPath] = []

    mutating func set(_ property: String, to value: DBusValue?) -> Changes? {
        switch property {
        case "UUID":
            guard let uuid = value?.uuidValue else { return nil }
            self.uuid = uuid
        case "Primary":
            guard let flag = value?.boolValue else { return nil }
            isPrimary = flag
        case "Includes":
            guard let paths = value?.pathsValue else { return nil }
            includes = paths
        default: break
        }
        return []
    }
}
#endif
