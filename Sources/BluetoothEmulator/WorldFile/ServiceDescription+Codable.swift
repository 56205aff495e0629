import BluetoothBackend
import BluetoothSupport

extension ServiceDescription: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case uuid, primary, includes, characteristics
    }

    /// Reads a service of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        self.init(
            try fields.required(.uuid), isPrimary: try fields.optional(.primary) ?? true,
            includes: try fields.optional(.includes) ?? [],
            characteristics: try fields.optional(.characteristics) ?? [])
    }

    /// Writes a service of a world file; what is as by default is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(uuid, forKey: .uuid)
        if !isPrimary { try fields.encode(isPrimary, forKey: .primary) }
        if !includes.isEmpty { try fields.encode(includes, forKey: .includes) }
        if !characteristics.isEmpty { try fields.encode(characteristics, forKey: .characteristics) }
    }
}

extension CharacteristicDescription: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case uuid, properties, permissions, value, maximumLength, timer, echo, clientConfiguration, descriptors
    }

    /// Reads a characteristic of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        let properties = try fields.texts(.properties, TextRule.properties) {
            CharacteristicPropertyName(rawValue: $0)?.property
        }
        let permissions = try fields.texts(.permissions, TextRule.permissions) {
            PermissionName(rawValue: $0)?.permission
        }
        self.init(
            try fields.required(.uuid), CharacteristicProperties(properties ?? []),
            value: try fields.text(.value, TextRule.hex) { Data(hexText: $0) } ?? Data(),
            permissions: permissions.map { AttributePermissions($0) },
            maximumLength: try fields.optional(.maximumLength) ?? 512, timer: try fields.optional(.timer),
            echo: try fields.optional(.echo) ?? false, clientConfiguration: try fields.optional(.clientConfiguration),
            descriptors: try fields.optional(.descriptors) ?? [])
    }

    /// Writes a characteristic of a world file; what is as by default is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(uuid, forKey: .uuid)
        try fields.encode(CharacteristicPropertyName.names(of: properties), forKey: .properties)
        try fields.encodeIfPresent(permissions.map(PermissionName.names(of:)), forKey: .permissions)
        if !value.isEmpty { try fields.encode(value.hexText, forKey: .value) }
        if maximumLength != 512 { try fields.encode(maximumLength, forKey: .maximumLength) }
        try fields.encodeIfPresent(timer, forKey: .timer)
        if echo { try fields.encode(echo, forKey: .echo) }
        try fields.encodeIfPresent(clientConfiguration, forKey: .clientConfiguration)
        if !descriptors.isEmpty { try fields.encode(descriptors, forKey: .descriptors) }
    }
}

extension CharacteristicDescription.Timer: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case interval, values
    }

    /// Reads a timer of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        guard let interval = try fields.text(.interval, TextRule.duration, DurationText.parse) else {
            throw fields.error(.interval, "the field is missing")
        }
        self.init(every: interval, values: try fields.texts(.values, TextRule.hex) { Data(hexText: $0) } ?? [])
    }

    /// Writes a timer of a world file.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(DurationText.text(interval), forKey: .interval)
        if !values.isEmpty { try fields.encode(values.map(\.hexText), forKey: .values) }
    }
}

extension DescriptorDescription: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case uuid, value, permissions
    }

    /// Reads a descriptor of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        let permissions = try fields.texts(.permissions, TextRule.permissions) {
            PermissionName(rawValue: $0)?.permission
        }
        self.init(
            try fields.required(.uuid), value: try fields.text(.value, TextRule.hex) { Data(hexText: $0) } ?? Data(),
            permissions: permissions.map { AttributePermissions($0) } ?? [.readable])
    }

    /// Writes a descriptor of a world file.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(uuid, forKey: .uuid)
        if !value.isEmpty { try fields.encode(value.hexText, forKey: .value) }
        if permissions != [.readable] { try fields.encode(PermissionName.names(of: permissions), forKey: .permissions) }
    }
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
