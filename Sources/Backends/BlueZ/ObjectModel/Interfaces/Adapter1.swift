#if os(Linux)
import BluetoothDBus

/// `org.bluez.Adapter1`: a local controller.
struct Adapter1: RemoteInterface {
    struct Changes: OptionSet, InterfaceChanges {
        let rawValue: UInt8
        static let power = Changes(rawValue: 1)
        static let roles = Changes(rawValue: 2)
        static let discovering = Changes(rawValue: 4)
        static let address = Changes(rawValue: 8)
        static let pairable = Changes(rawValue: 16)
    }

    static let interface = "org.bluez.Adapter1"

    /// The public or static address, in the usual notation.
    private(set) var address = ""
    /// Whether this address is random, as on controllers without a public one; otherwise it is public.
    private(set) var isRandom = false
    private(set) var isPowered = false
    /// Whether a program is switching the power off: BlueZ 5.73 and later report it before the links end.
    private(set) var isTurningOff = false
    /// Whether discovery runs, for any program.
    private(set) var isDiscovering = false
    /// The supported roles, from BlueZ 5.55 on; nil before.
    private(set) var roles: [String]?

    /// Whether the controller can be a central; true if an old daemon does not report it.
    var supportsCentral: Bool {
        roles?.contains { $0 == "central" || $0 == "central-peripheral" } ?? true
    }

    /// Whether the controller can be a peripheral; true if an old daemon does not report it.
    var supportsPeripheral: Bool {
        roles?.contains { $0 == "peripheral" || $0 == "central-peripheral" } ?? true
    }

    /// Whether a notification socket serves one central alone: BlueZ 5.76 and later, recognized by a property of 5.79.
    ///
    /// BlueZ pitfall: before 5.76 a value reached every subscriber (https://github.com/bluez/bluez/issues/820).
    private(set) var hasUnicastSockets = false

    /// Whether `bluetoothd` allows devices to pair; nil until it has reported that.
    private(set) var isPairable: Bool?

    /// The version of `bluetoothd`; nil if the adapter does not expose it.
    private(set) var daemonVersion: DaemonVersion?

    init(path: ObjectPath) {}

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> Changes {
        switch property {
        case "Address": set(\.address, to: try value.string().uppercased(), .address)
        case "AddressType": set(\.isRandom, to: try value.string() == "random", .address)
        case "Powered": set(\.isPowered, to: try value.bool(), .power)
        case "PowerState": set(\.isTurningOff, to: try value.string() == "on-disabling", [])
        case "Discovering": set(\.isDiscovering, to: try value.bool(), .discovering)
        case "Roles": set(\.roles, to: try value.strings(), .roles)
        case "Pairable": set(\.isPairable, to: try value.bool(), .pairable)
        case "Connectable": set(\.hasUnicastSockets, to: true, [])
        case "Modalias": set(\.daemonVersion, to: DaemonVersion(modalias: try value.string()), [])
        default: []
        }
    }

    mutating func remove(_ property: String) {
        switch property {
        case "Connectable": hasUnicastSockets = false
        case "PowerState": isTurningOff = false
        case "Modalias": daemonVersion = nil
        default: break
        }
    }
}

/// `org.bluez.LEAdvertisingManager1`: the advertising features of a local controller.
struct LEAdvertisingManager1: RemoteInterface {
    static let interface = "org.bluez.LEAdvertisingManager1"

    /// Whether the controller supports the extended advertising of Bluetooth 5, which alone has secondary channels.
    ///
    /// The kernel then also scans and connects with the extended commands.
    /// Source: BlueZ, org.bluez.LEAdvertisingManager, SupportedSecondaryChannels.
    private(set) var isExtended = false

    init(path: ObjectPath) {}

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> NoChanges {
        if property == "SupportedSecondaryChannels" { isExtended = try !value.strings().isEmpty }
        return NoChanges()
    }

    mutating func remove(_ property: String) {
        if property == "SupportedSecondaryChannels" { isExtended = false }
    }
}
#endif
