#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// `org.bluez.GattService1`: a service of a remote device.
struct GattService1: RemoteInterface {
    static let interface = "org.bluez.GattService1"

    private(set) var uuid: BluetoothUUID?
    private(set) var isPrimary = true
    /// The included services; BlueZ sets them later than the service itself.
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

/// `org.bluez.GattCharacteristic1`: a characteristic of a remote device.
struct GattCharacteristic1: RemoteInterface {
    struct Changes: OptionSet {
        let rawValue: UInt8
        static let mtu = Changes(rawValue: 1)
        static let value = Changes(rawValue: 2)
    }

    static let interface = "org.bluez.GattCharacteristic1"

    private(set) var uuid: BluetoothUUID?
    private(set) var properties: CharacteristicProperties = []
    /// The ATT MTU of the link, from BlueZ 5.62 on.
    private(set) var mtu: UInt16?

    /// The device of the characteristic.
    let device: ObjectPath
    /// The value of the last message; see ``takeValue()``.
    private var value: Data?

    init(path: ObjectPath) { device = path.device }

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> Changes {
        switch property {
        case "UUID": uuid = try value.uuid()
        case "Flags": properties = try value.strings().reduce(into: []) { $0.formUnion(Self.properties[$1] ?? []) }
        case "MTU": return set(\.mtu, to: try value.uint16(), .mtu)
        case "Value":
            self.value = try value.data()
            return .value
        default: break
        }
        return []
    }

    /// Removes and returns the value of the last message, which is an event and not kept.
    mutating func takeValue() -> Data? {
        defer { value = nil }
        return value
    }

    /// The properties by flag, without flags that have no meaning for a client.
    private static let properties: [String: CharacteristicProperties] = [
        "broadcast": .broadcast, "read": .read, "write-without-response": .writeWithoutResponse, "write": .write,
        "notify": .notify, "indicate": .indicate, "authenticated-signed-writes": .authenticatedSignedWrites,
        "extended-properties": .extendedProperties,
    ]
}

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
