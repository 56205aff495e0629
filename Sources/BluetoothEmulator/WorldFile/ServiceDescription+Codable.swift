import BluetoothBackend
import BluetoothSupport

extension ServiceDescription: Codable {
    static let fields = FieldTable(
        ServiceDescription(BluetoothUUID(0)),
        .required("uuid", \.uuid),
        .value("primary", \.isPrimary),
        .value("includes", \.includes),
        .value("characteristics", \.characteristics))

    /// Reads a service of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a service of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

extension CharacteristicDescription: Codable {
    static let fields = FieldTable(
        CharacteristicDescription(BluetoothUUID(0), []),
        .required("uuid", \.uuid),
        .texts("properties", \.properties, CharacteristicPropertyName.form, isAlwaysWritten: true) {
            CharacteristicProperties($0.map(\.property))
        } _: {
            CharacteristicPropertyName.names(of: $0)
        },
        .texts("permissions", \.permissions, PermissionName.form) {
            AttributePermissions($0.map(\.permission))
        } _: {
            PermissionName.names(of: $0 ?? [])
        },
        .text("value", \.value, .hex),
        .value("maximumLength", \.maximumLength),
        .value("timer", \.timer),
        .value("echo", \.echo),
        .value("clientConfiguration", \.clientConfiguration),
        .value("descriptors", \.descriptors))

    /// Reads a characteristic of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a characteristic of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

extension CharacteristicDescription.Timer: Codable {
    static let fields = FieldTable(
        CharacteristicDescription.Timer(every: .zero),
        .text("interval", \.interval, .duration, isRequired: true),
        .texts("values", \.values, .hex) {
            $0
        } _: {
            $0
        })

    /// Reads a timer of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a timer of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

extension DescriptorDescription: Codable {
    static let fields = FieldTable(
        DescriptorDescription(BluetoothUUID(0), value: Data()),
        .required("uuid", \.uuid),
        .text("value", \.value, .hex),
        .texts("permissions", \.permissions, PermissionName.form) {
            AttributePermissions($0.map(\.permission))
        } _: {
            PermissionName.names(of: $0)
        })

    /// Reads a descriptor of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a descriptor of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

extension ChannelDescription: Codable {
    static let fields = FieldTable(
        ChannelDescription(psm: 0),
        .required("psm", \.psm),
        .value("encryptionRequired", \.isEncryptionRequired),
        .value("echo", \.echo))

    /// Reads a channel of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a channel of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

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

    static let form = TextForm.name("properties", of: allCases)

    static func names(of properties: CharacteristicProperties) -> [Self] {
        allCases.filter { properties.contains($0.property) }
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

    static let form = TextForm.name("permissions", of: allCases)

    static func names(of permissions: AttributePermissions) -> [Self] {
        allCases.filter { permissions.contains($0.permission) }
    }
}
