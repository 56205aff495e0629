#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// `org.bluez.GattDescriptor1`: a descriptor of a remote device.
struct GattDescriptor1: RemoteInterface {
    struct Changes: OptionSet {
        let rawValue: UInt8
    }

    static let interface = "org.bluez.GattDescriptor1"

    private(set) var uuid: BluetoothUUID?

    mutating func set(_ property: String, to value: DBusValue?) -> Changes? {
        guard property == "UUID" else { return [] }
        guard let uuid = value?.uuidValue else { return nil }
        self.uuid = uuid
        return []
    }
}
#endif
