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

    init(path: ObjectPath) {}

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> Changes {
        switch property {
        case "UUID": uuid = try value.uuid()
        case "Primary": isPrimary = try value.bool()
        case "Includes": includes = try value.paths()
        default: break
        }
        return []
    }
}

extension DBusReader {
    /// Reads an `ao`.
    fileprivate mutating func paths() throws(DBusError) -> [ObjectPath] {
        var elements = try array()
        var paths: [ObjectPath] = []
        while !elements.isAtEnd { paths.append(try elements.path()) }
        return paths
    }
}
#endif
