#if os(Linux)
import BluetoothBackend

/// Properties and permissions as `GattCharacteristic1.Flags`.
///
/// A flag of BlueZ is a property and a permission at once, so the properties decide. A request that has the property
/// but lacks the permission arrives nevertheless, and the facade refuses it.
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
        // From BlueZ 5.62 on a subscription can require encryption; older versions ignore the flag.
        if !properties.isDisjoint(with: [.notify, .notifyEncryptionRequired]) { flags.append("notify") }
        if properties.contains(.notifyEncryptionRequired) { flags.append("encrypt-notify") }
        if !properties.isDisjoint(with: [.indicate, .indicateEncryptionRequired]) { flags.append("indicate") }
        if properties.contains(.indicateEncryptionRequired) { flags.append("encrypt-indicate") }
        return flags
    }

    /// Whether a central must encrypt the link, and so may pair, to use a characteristic.
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

    /// Whether BlueZ acknowledges every write itself, even a Write Request, before it calls this process, and ignores
    /// the answer.
    var isWriteAcknowledgedByDaemon: Bool { properties.contains(.writeWithoutResponse) }
}
#endif
