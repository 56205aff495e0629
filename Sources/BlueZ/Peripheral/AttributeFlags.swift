#if os(Linux)
import BluetoothBackend

/// Properties and permissions as `GattCharacteristic1.Flags`.
///
/// A flag of BlueZ is a property and a permission at once, so the properties decide. What has a property and lacks the
/// permission is asked for all the same, and refused by the facade.
///
/// Source: BlueZ, `doc/org.bluez.GattCharacteristic.rst`.
enum AttributeFlags {
    static func flags(of characteristic: ServiceDefinition.Characteristic) -> [String] {
        let (properties, permissions) = (characteristic.properties, characteristic.permissions)
        var flags: [String] = []
        if properties.contains(.read) {
            flags.append(permissions.contains(.readEncryptionRequired) ? "encrypt-read" : "read")
        }
        let writes: CharacteristicProperties = [.write, .writeWithoutResponse]
        if !properties.isDisjoint(with: writes), permissions.contains(.writeEncryptionRequired) {
            flags.append("encrypt-write")
        } else if properties.contains(.write) {
            flags.append("write")
        }
        if properties.contains(.writeWithoutResponse) { flags.append("write-without-response") }
        if properties.contains(.authenticatedSignedWrites) { flags.append("authenticated-signed-writes") }
        // From BlueZ 5.62 on a subscription can need encryption; an older one ignores the flag.
        if !properties.isDisjoint(with: [.notify, .notifyEncryptionRequired]) { flags.append("notify") }
        if properties.contains(.notifyEncryptionRequired) { flags.append("encrypt-notify") }
        if !properties.isDisjoint(with: [.indicate, .indicateEncryptionRequired]) { flags.append("indicate") }
        if properties.contains(.indicateEncryptionRequired) { flags.append("encrypt-indicate") }
        return flags
    }

    /// Whether a central must encrypt the link, and so may pair, for something that a characteristic offers.
    static func needsEncryption(_ characteristic: ServiceDefinition.Characteristic) -> Bool {
        flags(of: characteristic).contains { $0.hasPrefix("encrypt-") }
    }
}

extension ServiceDefinition.Characteristic {
    /// Whether centrals can subscribe.
    var canNotify: Bool {
        !properties.isDisjoint(with: [
            .notify, .indicate, .notifyEncryptionRequired, .indicateEncryptionRequired,
        ])
    }

    /// Whether BlueZ acknowledges every write by itself, also a Write Request, before it asks us: whatever we answer
    /// goes nowhere.
    var isWriteAcknowledgedByDaemon: Bool { properties.contains(.writeWithoutResponse) }
}
#endif
