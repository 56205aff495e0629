#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The properties of one `org.bluez` interface that this backend uses, as Swift values.
///
/// Unknown properties are ignored. A property of another type than BlueZ documents keeps its earlier value.
protocol RemoteInterface: Sendable {
    /// What changed, for those who decide what to do about it.
    associatedtype Changes: OptionSet & Sendable

    /// The D-Bus name.
    static var interface: String { get }

    /// An object without properties.
    init()

    /// Takes in one property; nil means that it is gone.
    ///
    /// - Returns: What changed by it; nil where the value has the wrong type.
    mutating func set(_ property: String, to value: DBusValue?) -> Changes?
}

extension RemoteInterface {
    /// Takes in many properties.
    ///
    /// - Returns: All that changed, and the names of properties that made no sense.
    mutating func apply(
        _ values: [String: DBusValue], removing removed: [String] = []
    ) -> (changes: Changes, malformed: [String]) {
        var changes: Changes = []
        var malformed: [String] = []
        for (name, value) in values {
            if let change = set(name, to: value.unwrapped) {
                changes.formUnion(change)
            } else {
                malformed.append(name)
            }
        }
        for name in removed { if let change = set(name, to: nil) { changes.formUnion(change) } }
        return (changes, malformed.sorted())
    }
}

extension DBusValue {
    /// The content of an `as` of UUIDs; those that are none are left out.
    var uuidsValue: [BluetoothUUID]? {
        stringsValue?.compactMap { BluetoothUUID($0)?.shortened }
    }

    /// A UUID in an `s`.
    var uuidValue: BluetoothUUID? {
        stringValue.flatMap { BluetoothUUID($0)?.shortened }
    }
}

extension BluetoothUUID {
    /// BlueZ writes every UUID with 128 bits; Apple shows the 16-bit form where there is one.
    fileprivate var shortened: BluetoothUUID {
        bits16.map { BluetoothUUID($0) } ?? self
    }
}
#endif
