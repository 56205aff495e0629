#if os(Linux)
import BluetoothDBus

/// `org.bluez.Adapter1`: a local controller.
struct Adapter1: RemoteInterface {
    struct Changes: OptionSet {
        let rawValue: UInt8
        static let power = Changes(rawValue: 1)
        static let roles = Changes(rawValue: 2)
        static let discovering = Changes(rawValue: 4)
        static let address = Changes(rawValue: 8)
        static let pairable = Changes(rawValue: 16)
    }

    static let interface = "org.bluez.Adapter1"

    /// The public or static address, as people write it.
    private(set) var address = ""
    /// Whether that address is random, as on controllers that have no other; else it is public.
    private(set) var isRandom = false
    private(set) var isPowered = false
    /// Whether a program is switching the power off: BlueZ 5.73 and later report it before the links end.
    private(set) var isTurningOff = false
    /// Whether discovery runs, for whichever program.
    private(set) var isDiscovering = false
    /// From BlueZ 5.55 on; nil before.
    private(set) var roles: [String]?

    /// Whether the controller can be a central; an old daemon does not say, and means yes.
    var supportsCentral: Bool {
        roles?.contains { $0 == "central" || $0 == "central-peripheral" } ?? true
    }

    /// Whether the controller can be a peripheral; an old daemon does not say, and means yes.
    var supportsPeripheral: Bool {
        roles?.contains { $0 == "peripheral" || $0 == "central-peripheral" } ?? true
    }

    /// Whether a notification socket serves one central alone: BlueZ 5.76 and later, recognized by a property of 5.79.
    ///
    /// BlueZ pitfall: before that a value reached everybody (https://github.com/bluez/bluez/issues/820).
    private(set) var hasUnicastSockets = false

    /// Whether `bluetoothd` lets devices pair; nil before it has reported that.
    private(set) var isPairable: Bool?

    /// The version of `bluetoothd`; nil where the adapter does not show it.
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

/// `org.bluez.LEAdvertisingManager1`: what a local controller can advertise.
struct LEAdvertisingManager1: RemoteInterface {
    static let interface = "org.bluez.LEAdvertisingManager1"

    /// Whether the controller has the extended advertising of Bluetooth 5, for which alone there are secondary channels.
    ///
    /// The kernel then scans and connects the extended way, too.
    /// Source: BlueZ, org.bluez.LEAdvertisingManager, SupportedSecondaryChannels.
    private(set) var isExtended = false

    init(path: ObjectPath) {}

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> NoChanges {
        if property == "SupportedSecondaryChannels" { isExtended = try !value.strings().isEmpty }
        return []
    }

    mutating func remove(_ property: String) {
        if property == "SupportedSecondaryChannels" { isExtended = false }
    }
}
#endif
