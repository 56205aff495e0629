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
    }

    static let interface = "org.bluez.Adapter1"

    /// The public or static address, as people write it.
    private(set) var address = ""
    /// Whether that address is random, as on controllers that have no other; else it is public.
    private(set) var isRandom = false
    private(set) var isPowered = false
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

    /// Whether a notification socket serves one central alone: BlueZ 5.76 and later, told by a property of 5.79.
    ///
    /// BlueZ pitfall: before that a value reached everybody (https://github.com/bluez/bluez/issues/820).
    private(set) var hasUnicastSockets = false

    mutating func set(_ property: String, to value: DBusValue?) -> Changes? {
        switch property {
        case "Address":
            guard let text = value?.stringValue else { return nil }
            return change(\.address, to: text.uppercased(), .address)
        case "AddressType":
            guard let text = value?.stringValue else { return nil }
            return change(\.isRandom, to: text == "random", .address)
        case "Powered":
            guard let flag = value?.boolValue else { return nil }
            return change(\.isPowered, to: flag, .power)
        case "Discovering":
            guard let flag = value?.boolValue else { return nil }
            return change(\.isDiscovering, to: flag, .discovering)
        case "Roles":
            guard let texts = value?.stringsValue else { return nil }
            return change(\.roles, to: texts, .roles)
        case "Connectable":
            hasUnicastSockets = value != nil
            return []
        default:
            return []
        }
    }

    private mutating func change<Value: Equatable>(
        _ property: WritableKeyPath<Adapter1, Value>, to new: Value, _ change: Changes
    ) -> Changes {
        guard self[keyPath: property] != new else { return [] }
        self[keyPath: property] = new
        return change
    }
}
#endif
