/// The properties of a characteristic: bits as on the air, and two of Apple's above them.
///
/// Apple: `CBCharacteristicProperties`.
///
/// Source: Core Specification, Vol 3, Part G, 3.3.1.1.
public struct CharacteristicProperties: OptionSet, Hashable, Sendable, Codable {
    /// The bits.
    public let rawValue: UInt16
    /// Wraps bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// May be broadcast in advertising data.
    public static let broadcast = Self(rawValue: 0x01)
    /// May be read.
    public static let read = Self(rawValue: 0x02)
    /// May be written with a Write Command.
    public static let writeWithoutResponse = Self(rawValue: 0x04)
    /// May be written with a Write Request.
    public static let write = Self(rawValue: 0x08)
    /// May be notified.
    public static let notify = Self(rawValue: 0x10)
    /// May be indicated.
    public static let indicate = Self(rawValue: 0x20)
    /// May be written with a Signed Write Command.
    public static let authenticatedSignedWrites = Self(rawValue: 0x40)
    /// More properties are in the Extended Properties descriptor.
    public static let extendedProperties = Self(rawValue: 0x80)
    /// Only encrypted links may subscribe to notifications.
    public static let notifyEncryptionRequired = Self(rawValue: 0x100)
    /// Only encrypted links may subscribe to indications.
    public static let indicateEncryptionRequired = Self(rawValue: 0x200)
}

/// The permissions of an attribute on a server.
///
/// Apple: `CBAttributePermissions`.
public struct AttributePermissions: OptionSet, Hashable, Sendable, Codable {
    /// The bits.
    public let rawValue: UInt8
    /// Wraps bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// May be read.
    public static let readable = Self(rawValue: 0x01)
    /// May be written.
    public static let writeable = Self(rawValue: 0x02)
    /// May be read over an encrypted link.
    public static let readEncryptionRequired = Self(rawValue: 0x04)
    /// May be written over an encrypted link.
    public static let writeEncryptionRequired = Self(rawValue: 0x08)

    /// Whether a central may read, at least over an encrypted link.
    package var allowReading: Bool { !isDisjoint(with: [.readable, .readEncryptionRequired]) }
    /// Whether a central may write, at least over an encrypted link.
    package var allowWriting: Bool { !isDisjoint(with: [.writeable, .writeEncryptionRequired]) }
}

/// A service found at a peer.
public struct ServiceRecord: Hashable, Sendable, Codable {
    /// Its identity within the link.
    public var id: AttributeID
    /// Its type.
    public var uuid: BluetoothUUID
    /// Whether it is a primary service.
    public var isPrimary: Bool
    /// Its handle on the peer, if the backend knows it; for listings only.
    public var handle: UInt16?

    /// Creates a service.
    public init(id: AttributeID, uuid: BluetoothUUID, isPrimary: Bool, handle: UInt16? = nil) {
        self.id = id
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.handle = handle
    }
}

/// A characteristic found at a peer.
public struct CharacteristicRecord: Hashable, Sendable, Codable {
    /// Its identity within the link.
    public var id: AttributeID
    /// Its type.
    public var uuid: BluetoothUUID
    /// Its properties.
    public var properties: CharacteristicProperties
    /// The handle of its value on the peer, if the backend knows it; for listings only.
    public var handle: UInt16?

    /// Creates a characteristic.
    public init(
        id: AttributeID, uuid: BluetoothUUID, properties: CharacteristicProperties, handle: UInt16? = nil
    ) {
        self.id = id
        self.uuid = uuid
        self.properties = properties
        self.handle = handle
    }
}

/// A descriptor found at a peer.
public struct DescriptorRecord: Hashable, Sendable, Codable {
    /// Its identity within the link.
    public var id: AttributeID
    /// Its type.
    public var uuid: BluetoothUUID
    /// Its handle on the peer, if the backend knows it; for listings only.
    public var handle: UInt16?

    /// Creates a descriptor.
    public init(id: AttributeID, uuid: BluetoothUUID, handle: UInt16? = nil) {
        self.id = id
        self.uuid = uuid
        self.handle = handle
    }
}

/// A peer that a backend knows without I/O.
public struct PeerSummary: Hashable, Sendable, Codable {
    /// Its identity.
    public var id: PeerID
    /// Its name, if known.
    public var name: String?
    /// Its address in the usual notation, if the backend knows it; for listings only.
    public var address: String?

    /// Creates a known peer.
    public init(id: PeerID, name: String? = nil, address: String? = nil) {
        self.id = id
        self.name = name
        self.address = address
    }
}
