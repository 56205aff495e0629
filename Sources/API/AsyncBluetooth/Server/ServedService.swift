public import CoreBluetooth

/// A service that a ``PeripheralServer`` offers, with the handlers of its requests.
public struct ServedService: Sendable {
    /// The service's type.
    public var uuid: CBUUID
    /// Whether it is a primary service.
    public var isPrimary: Bool
    /// The services that this one includes, which are published already.
    public var includes: [ServiceID]
    /// The service's characteristics.
    public var characteristics: [ServedCharacteristic]

    /// Describes a service.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - isPrimary: Whether it is a primary service.
    ///   - includes: The services that it includes, by the names that ``PeripheralServer/add(_:)`` has returned.
    ///   - characteristics: Its characteristics.
    public init(
        _ uuid: CBUUID, isPrimary: Bool = true, includes: [ServiceID] = [], characteristics: [ServedCharacteristic]
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
    }

    /// The service as CoreBluetooth expects it.
    var object: CBMutableService {
        let service = CBMutableService(type: uuid, primary: isPrimary)
        service.characteristics = characteristics.map(\.object)
        return service
    }
}

/// A characteristic that a ``PeripheralServer`` offers.
public struct ServedCharacteristic: Sendable {
    /// Answers a read with the whole value; the server applies the offset.
    ///
    /// The device receives a thrown `CBATTError`, and `.unlikelyError` for any other error.
    public typealias ReadHandler = @Sendable (RemoteCentral) async throws -> Data
    /// Handles a write: returning accepts it, throwing refuses it, as with ``ReadHandler``.
    public typealias WriteHandler = @Sendable (WriteRequest) async throws -> Void
    /// Runs from the first subscription to the end of the last one, when it is cancelled; a thrown error is logged.
    public typealias SubscriptionHandler = @Sendable (SubscribedCharacteristic) async throws -> Void

    /// The characteristic's type.
    public var uuid: CBUUID
    /// The operations that the characteristic announces to other devices.
    public var properties: CBCharacteristicProperties
    /// The operations that the server permits, with or without encryption.
    public var permissions: CBAttributePermissions
    /// A fixed value; such a characteristic is read-only, without handlers.
    public var value: Data?
    /// A description for people (2901).
    public var userDescription: String?
    /// Further descriptors: 2901 as text in UTF-8, 2904 in its layout; systems refuse others.
    public var descriptors: [CBUUID: Data]
    /// Answers reads; without it they are refused.
    public var onRead: ReadHandler?
    /// Handles writes; without it they are refused.
    public var onWrite: WriteHandler?
    /// Runs while at least one device subscribes, as for a measurement each second.
    public var whileSubscribed: SubscriptionHandler?

    /// Describes a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - properties: The operations that the characteristic announces to other devices.
    ///   - permissions: The operations that the server permits; nil for those of the properties, without encryption.
    ///   - value: A fixed value.
    ///   - userDescription: A description for people.
    ///   - descriptors: Further descriptors, by UUID.
    ///   - onRead: Answers reads.
    ///   - onWrite: Handles writes.
    ///   - whileSubscribed: Runs while at least one device subscribes.
    public init(
        _ uuid: CBUUID, _ properties: CBCharacteristicProperties, permissions: CBAttributePermissions? = nil,
        value: Data? = nil, userDescription: String? = nil, descriptors: [CBUUID: Data] = [:],
        onRead: ReadHandler? = nil, onWrite: WriteHandler? = nil, whileSubscribed: SubscriptionHandler? = nil
    ) {
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions ?? Self.permissions(for: properties)
        self.value = value
        self.userDescription = userDescription
        self.descriptors = descriptors
        self.onRead = onRead
        self.onWrite = onWrite
        self.whileSubscribed = whileSubscribed
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
        let descriptionUUID = CBUUID(string: CBUUIDCharacteristicUserDescriptionString)
        var descriptors = descriptors
        if let userDescription { descriptors[descriptionUUID] = Data(userDescription.utf8) }
        guard !descriptors.isEmpty else { return characteristic }
        characteristic.descriptors = descriptors.sorted { $0.key.uuidString < $1.key.uuidString }.map { uuid, data in
            CBMutableDescriptor(
                type: uuid, value: uuid == descriptionUUID ? String(decoding: data, as: UTF8.self) : data)
        }
        return characteristic
    }
}

/// A device that uses a ``PeripheralServer``.
public struct RemoteCentral: Hashable, Sendable {
    /// The device's identifier on this host.
    public let identifier: UUID
    /// The maximum length of one notification to it, in bytes.
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
    /// The offset of the bytes in the value; only a long write has one other than 0.
    public let offset: Int
}

/// A subscription to a characteristic of a ``PeripheralServer`` began or ended.
public enum SubscriptionEvent: Hashable, Sendable {
    /// A device subscribed.
    case subscribed(RemoteCentral, CharacteristicID)
    /// A device unsubscribed, or its link ended.
    case unsubscribed(RemoteCentral, CharacteristicID)
}
