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

    private typealias Meaning = (properties: CharacteristicProperties, permissions: AttributePermissions)

    /// The flags of characteristics and descriptors.
    private static let access: [String: Meaning] = [
        "read": (.read, .readable), "encrypt-read": (.read, .readEncryptionRequired),
        "encrypt-authenticated-read": (.read, .readEncryptionRequired),
        "secure-read": (.read, .readEncryptionRequired),
        "write": (.write, .writeable), "encrypt-write": (.write, .writeEncryptionRequired),
        "encrypt-authenticated-write": (.write, .writeEncryptionRequired),
        "secure-write": (.write, .writeEncryptionRequired),
        "authorize": ([], []),  // has no effect on the controller
    ]

    /// The flags that only characteristics have.
    private static let others: [String: Meaning] = [
        "broadcast": (.broadcast, []), "write-without-response": (.writeWithoutResponse, .writeable),
        "notify": (.notify, []), "encrypt-notify": ([.notify, .notifyEncryptionRequired], []),
        "encrypt-authenticated-notify": ([.notify, .notifyEncryptionRequired], []),
        "secure-notify": ([.notify, .notifyEncryptionRequired], []),
        "indicate": (.indicate, []), "encrypt-indicate": ([.indicate, .indicateEncryptionRequired], []),
        "encrypt-authenticated-indicate": ([.indicate, .indicateEncryptionRequired], []),
        "secure-indicate": ([.indicate, .indicateEncryptionRequired], []),
        "authenticated-signed-writes": (.authenticatedSignedWrites, []),
        "extended-properties": (.extendedProperties, []), "reliable-write": (.extendedProperties, .writeable),
        "writable-auxiliaries": (.extendedProperties, []),
    ]

    /// - Parameters:
    ///   - value: An array of strings.
    ///   - isDescriptor: Whether the flags are those of a descriptor.
    /// - Returns: nil if the value has another type, contains no flag or contains one that such an attribute does not
    ///   have.
    init?(_ value: DBusValue?, ofDescriptor isDescriptor: Bool = false) {
        guard let names = value?.stringsValue, !names.isEmpty else { return nil }
        for name in names {
            guard let meaning = Self.access[name] ?? (isDescriptor ? nil : Self.others[name]) else { return nil }
            properties.formUnion(meaning.properties)
            permissions.formUnion(meaning.permissions)
        }
        if names.contains("reliable-write") { extendedProperties |= 0x01 }
        if names.contains("writable-auxiliaries") { extendedProperties |= 0x02 }
        // Encryption replaces plain permissions, which would apply to commands for the same attribute.
        if permissions.contains(.writeEncryptionRequired) { permissions.remove(.writeable) }
        if permissions.contains(.readEncryptionRequired) { permissions.remove(.readable) }
    }
}
#endif
