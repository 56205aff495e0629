#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The flags of a characteristic or a descriptor that a client serves.
///
/// Pure. Source: BlueZ, `src/gatt-database.c`, `parse_chrc_flags` and `parse_desc_flags`.
struct AttributeFlagNames: Sendable {
    private(set) var properties: CharacteristicProperties = []
    private(set) var permissions: AttributePermissions = []
    /// The value of Characteristic Extended Properties; 0 if the characteristic has no such descriptor.
    private(set) var extendedProperties: UInt8 = 0

    /// - Parameter value: An array of strings.
    /// - Returns: nil if the value has another type, contains no flag or contains an unknown one.
    init?(ofCharacteristic value: DBusValue?) {
        guard let names = value?.stringsValue, !names.isEmpty else { return nil }
        for name in names {
            guard addAccess(name) || addProperty(name) else { return nil }
        }
        removePlainPermissions()
    }

    /// - Parameter value: An array of strings.
    /// - Returns: nil if the value has another type, contains no flag or contains one that descriptors do not have.
    init?(ofDescriptor value: DBusValue?) {
        guard let names = value?.stringsValue, !names.isEmpty else { return nil }
        for name in names {
            guard addAccess(name) else { return nil }
        }
        removePlainPermissions()
    }

    /// Adds a flag of characteristics and descriptors.
    private mutating func addAccess(_ name: String) -> Bool {
        switch name {
        case "read": add(.read, .readable)
        case "encrypt-read", "encrypt-authenticated-read", "secure-read": add(.read, .readEncryptionRequired)
        case "write": add(.write, .writeable)
        case "encrypt-write", "encrypt-authenticated-write", "secure-write": add(.write, .writeEncryptionRequired)
        case "authorize": break  // has no effect on the controller
        default: return false
        }
        return true
    }

    /// Adds a flag that only characteristics have.
    private mutating func addProperty(_ name: String) -> Bool {
        switch name {
        case "broadcast": add(.broadcast)
        case "write-without-response": add(.writeWithoutResponse, .writeable)
        case "notify": add(.notify)
        case "encrypt-notify", "encrypt-authenticated-notify", "secure-notify":
            add([.notify, .notifyEncryptionRequired])
        case "indicate": add(.indicate)
        case "encrypt-indicate", "encrypt-authenticated-indicate", "secure-indicate":
            add([.indicate, .indicateEncryptionRequired])
        case "authenticated-signed-writes": add(.authenticatedSignedWrites)
        case "extended-properties": add(.extendedProperties)
        case "reliable-write":
            add(.extendedProperties, .writeable)
            extendedProperties |= 0x01
        case "writable-auxiliaries":
            add(.extendedProperties)
            extendedProperties |= 0x02
        default: return false
        }
        return true
    }

    private mutating func add(_ property: CharacteristicProperties, _ permission: AttributePermissions = []) {
        properties.formUnion(property)
        permissions.formUnion(permission)
    }

    /// Removes plain permissions that encryption replaces, because they would apply to commands for the same attribute.
    private mutating func removePlainPermissions() {
        if permissions.contains(.writeEncryptionRequired) { permissions.remove(.writeable) }
        if permissions.contains(.readEncryptionRequired) { permissions.remove(.readable) }
    }
}
#endif
