#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// `org.bluez.GattDescriptor1`: a descriptor of a remote device.
struct GattDescriptor1: RemoteInterface {
    static let interface = "org.bluez.GattDescriptor1"

    private(set) var uuid: BluetoothUUID?

    init(path: ObjectPath) {}

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> NoChanges {
        if property == "UUID" { uuid = try value.uuid() }
        return []
    }
}
#endif
