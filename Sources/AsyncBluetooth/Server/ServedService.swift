public import CoreBluetooth

/// A service that a ``PeripheralServer`` offers, with what answers its requests.
public struct ServedService: Sendable {
    /// The service's type.
    public var uuid: CBUUID
    /// Whether it is a primary service.
    public var isPrimary: Bool
    /// What is in it.
    public var characteristics: [ServedCharacteristic]

    /// Describes a service.
    public init(_ uuid: CBUUID, isPrimary: Bool = true, characteristics: [ServedCharacteristic]) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.characteristics = characteristics
    }

    /// As CoreBluetooth takes it.
    var object: CBMutableService {
        let service = CBMutableService(type: uuid, primary: isPrimary)
        service.characteristics = characteristics.map(\.object)
        return service
    }
}

/// A characteristic that a ``PeripheralServer`` offers.
public struct ServedCharacteristic: Sendable {
    /// Answers a read with the whole value; the server cuts out what was asked for.
    ///
    /// A thrown `CBATTError` is what the device gets, any other error becomes `.unlikelyError`.
    public typealias ReadHandler = @Sendable (RemoteCentral) async throws -> Data
    /// Takes a write; returning grants it, throwing refuses it, as with ``ReadHandler``.
    public typealias WriteHandler = @Sendable (WriteRequest) async throws -> Void

    /// The characteristic's type.
    public var uuid: CBUUID
    /// What others are told that they can do.
    public var properties: CBCharacteristicProperties
    /// What the server allows.
    public var permissions: CBAttributePermissions
    /// A value that never changes; such a characteristic is read-only, and has no handlers.
    public var value: Data?
    /// A description for people (2901).
    public var userDescription: String?
    /// Answers reads; without it they are refused.
    public var onRead: ReadHandler?
    /// Takes writes; without it they are refused.
    public var onWrite: WriteHandler?

    /// Describes a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - properties: What others are told that they can do.
    ///   - permissions: What the server allows; nil for what the properties need, without encryption.
    ///   - value: A value that never changes.
    ///   - userDescription: A description for people.
    ///   - onRead: Answers reads.
    ///   - onWrite: Takes writes.
    public init(
        _ uuid: CBUUID, _ properties: CBCharacteristicProperties, permissions: CBAttributePermissions? = nil,
        value: Data? = nil, userDescription: String? = nil, onRead: ReadHandler? = nil, onWrite: WriteHandler? = nil
    ) {
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions ?? Self.permissions(for: properties)
        self.value = value
        self.userDescription = userDescription
        self.onRead = onRead
        self.onWrite = onWrite
    }

    private static func permissions(for properties: CBCharacteristicProperties) -> CBAttributePermissions {
        var permissions: CBAttributePermissions = []
        if properties.contains(.read) { permissions.insert(.readable) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { permissions.insert(.writeable) }
        return permissions
    }

    fileprivate var object: CBMutableCharacteristic {
        let characteristic = CBMutableCharacteristic(
            type: uuid, properties: properties, value: value, permissions: permissions)
        if let userDescription {
            characteristic.descriptors = [
                CBMutableDescriptor(
                    type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: userDescription)
            ]
        }
        return characteristic
    }
}

/// A device that uses a ``PeripheralServer``.
public struct RemoteCentral: Hashable, Sendable {
    /// The device's identifier on this host.
    public let identifier: UUID
    /// How many bytes one notification to it carries.
    public let maximumUpdateLength: Int

    init(_ central: CBCentral) {
        identifier = central.identifier
        maximumUpdateLength = central.maximumUpdateValueLength
    }
}

/// What a device writes.
public struct WriteRequest: Sendable {
    /// Who writes.
    public let central: RemoteCentral
    /// The bytes; the parts of a long write are joined.
    public let value: Data
    /// Where they go, counted from 0; other than 0 in long writes only.
    public let offset: Int
}

/// A subscription to a characteristic of a ``PeripheralServer`` began or ended.
public enum SubscriptionEvent: Hashable, Sendable {
    /// A device subscribed.
    case subscribed(RemoteCentral, CharacteristicID)
    /// A device unsubscribed, or its link ended.
    case unsubscribed(RemoteCentral, CharacteristicID)
}
