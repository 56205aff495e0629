public import CoreBluetooth

/// A service that a ``PeripheralServer`` offers, with the handlers of its requests.
public struct ServedService: Sendable {
    /// The service's type.
    public var uuid: CBUUID
    /// Whether it is a primary service.
    public var isPrimary: Bool
    /// The service's characteristics.
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
    /// The operations that the characteristic announces to other devices.
    public var properties: CBCharacteristicProperties
    /// The operations that the server permits, with or without encryption.
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
    ///   - properties: The operations that the characteristic announces to other devices.
    ///   - permissions: The operations that the server permits; nil for those of the properties, without encryption.
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

/// A write request of a device.
public struct WriteRequest: Sendable {
    /// The device that writes.
    public let central: RemoteCentral
    /// The bytes; the parts of a long write are joined.
    public let value: Data
    /// The offset of the bytes in the value, from 0; only long writes have another.
    public let offset: Int
}

/// A subscription to a characteristic of a ``PeripheralServer`` began or ended.
public enum SubscriptionEvent: Hashable, Sendable {
    /// A device subscribed.
    case subscribed(RemoteCentral, CharacteristicID)
    /// A device unsubscribed, or its link ended.
    case unsubscribed(RemoteCentral, CharacteristicID)
}
