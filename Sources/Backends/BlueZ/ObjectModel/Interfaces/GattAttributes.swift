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
        return NoChanges()
    }
}

/// `org.bluez.GattCharacteristic1`: a characteristic of a remote device.
struct GattCharacteristic1: RemoteInterface {
    struct Changes: InterfaceChanges {
        /// The device of the characteristic, if anything changed.
        var device: ObjectPath?
        var mtu: UInt16?
        /// The value of the message, which is an event and not kept.
        var value: Data?

        mutating func formUnion(_ other: Changes) {
            device = other.device ?? device
            mtu = other.mtu ?? mtu
            value = other.value ?? value
        }
    }

    static let interface = "org.bluez.GattCharacteristic1"

    private(set) var uuid: BluetoothUUID?
    private(set) var properties: CharacteristicProperties = []
    /// The ATT MTU of the link, from BlueZ 5.62 on.
    private(set) var mtu: UInt16?

    /// The device of the characteristic.
    let device: ObjectPath

    init(path: ObjectPath) { device = path.device }

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> Changes {
        switch property {
        // The most frequent first.
        case "Value": return Changes(device: device, value: try value.data())
        case "UUID": uuid = try value.uuid()
        case "Flags": properties = try value.strings().reduce(into: []) { $0.formUnion(Self.properties[$1] ?? []) }
        case "MTU":
            let mtu = try value.uint16()
            return set(\.mtu, to: mtu, Changes(device: device, mtu: mtu))
        default: break
        }
        return Changes()
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
        return NoChanges()
    }
}
#endif
