#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// `org.bluez.GattService1`: a service of a remote device.
struct GattService1: RemoteInterface {
    static let interface = "org.bluez.GattService1"

    private(set) var uuid: BluetoothUUID?
    private(set) var isPrimary = true
    /// Filled in later than the service itself.
    private(set) var includes: [ObjectPath] = []

    init(path: ObjectPath) {}

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> NoChanges {
        switch property {
        case "UUID": uuid = try value.uuid()
        case "Primary": isPrimary = try value.bool()
        case "Includes": includes = try value.elements { path throws(DBusError) in try path.path() }
        default: break
        }
        return []
    }
}
#endif
