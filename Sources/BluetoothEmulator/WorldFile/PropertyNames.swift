import BluetoothBackend

/// The names of characteristic properties in world files.
enum CharacteristicPropertyName: String, CaseIterable {
    case broadcast, read, writeWithoutResponse, write, notify, indicate, authenticatedSignedWrites
    case extendedProperties, notifyEncryptionRequired, indicateEncryptionRequired

    var property: CharacteristicProperties {
        switch self {
        case .broadcast: .broadcast
        case .read: .read
        case .writeWithoutResponse: .writeWithoutResponse
        case .write: .write
        case .notify: .notify
        case .indicate: .indicate
        case .authenticatedSignedWrites: .authenticatedSignedWrites
        case .extendedProperties: .extendedProperties
        case .notifyEncryptionRequired: .notifyEncryptionRequired
        case .indicateEncryptionRequired: .indicateEncryptionRequired
        }
    }

    static func names(of properties: CharacteristicProperties) -> [String] {
        allCases.filter { properties.contains($0.property) }.map(\.rawValue)
    }
}

/// The names of attribute permissions in world files.
enum PermissionName: String, CaseIterable {
    case readable, writeable, readEncryptionRequired, writeEncryptionRequired

    var permission: AttributePermissions {
        switch self {
        case .readable: .readable
        case .writeable: .writeable
        case .readEncryptionRequired: .readEncryptionRequired
        case .writeEncryptionRequired: .writeEncryptionRequired
        }
    }

    static func names(of permissions: AttributePermissions) -> [String] {
        allCases.filter { permissions.contains($0.permission) }.map(\.rawValue)
    }
}
