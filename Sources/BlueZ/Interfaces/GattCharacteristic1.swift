#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// `org.bluez.GattCharacteristic1`: a characteristic of a remote device.
struct GattCharacteristic1: RemoteInterface {
    struct Changes: OptionSet {
        let rawValue: UInt8
        static let mtu = Changes(rawValue: 1)
    }

    static let interface = "org.bluez.GattCharacteristic1"

    private(set) var uuid: BluetoothUUID?
    private(set) var properties: CharacteristicProperties = []
    /// The ATT MTU of the link, from BlueZ 5.62 on.
    private(set) var mtu: UInt16?

    mutating func set(_ property: String, to value: DBusValue?) -> Changes? {
        switch property {
        case "UUID":
            guard let uuid = value?.uuidValue else { return nil }
            self.uuid = uuid
            return []
        case "Flags":
            guard let flags = value?.stringsValue else { return nil }
            properties = flags.reduce(into: []) { $0.formUnion(Self.properties[$1] ?? []) }
            return []
        case "MTU":
            guard let mtu = value?.uint16Value else { return nil }
            self.mtu = mtu
            return .mtu
        default:
            // `Value` is an event and not kept; see `ObjectTree`.
            return []
        }
    }

    /// Flags that mean nothing to a client are left out.
    private static let properties: [String: CharacteristicProperties] = [
        "broadcast": .broadcast, "read": .read, "write-without-response": .writeWithoutResponse, "write": .write,
        "notify": .notify, "indicate": .indicate, "authenticated-signed-writes": .authenticatedSignedWrites,
        "extended-properties": .extendedProperties,
    ]
}
#endif
