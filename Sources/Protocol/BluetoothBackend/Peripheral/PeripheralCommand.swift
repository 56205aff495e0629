public import BluetoothSupport

/// The peripheral role of one adapter for one manager: commands go in, ordered events come out.
///
/// The contract is that of ``CentralBackend``: `submit` waits for no adapter and no peer and never delivers inline,
/// each operation is answered exactly once unless the state ends first, and the state event that leaves `poweredOn`
/// closes everything that is open. `invalidate` withdraws this manager's services, advertisement and channels.
public protocol PeripheralBackend: RoleBackend where Command == PeripheralCommand, Event == PeripheralEvent {}

/// A request of a peripheral manager to the backend.
///
/// Each case names the public call behind it.
public enum PeripheralCommand: Hashable, Sendable, Codable {
    /// Publishes a service: `serviceAdded`. `CBPeripheralManager.add`.
    indirect case addService(operation: OperationID, service: ServiceDefinition)
    /// Withdraws a service. `CBPeripheralManager.remove`.
    case removeService(AttributeID)
    /// Withdraws all services. `CBPeripheralManager.removeAllServices`.
    case removeAllServices
    /// Advertises, instead of the current advertisement: `advertisingStarted`. `CBPeripheralManager.startAdvertising`.
    ///
    /// Power-off ends it; the manager repeats the command when the adapter is on again.
    indirect case startAdvertising(operation: OperationID, advertisement: Advertisement)
    /// Stops advertising. `CBPeripheralManager.stopAdvertising`.
    case stopAdvertising
    /// Answers a request with an ATT error code or 0, and the value of a read from its offset.
    /// `CBPeripheralManager.respond`.
    case respond(request: RequestID, attCode: UInt8, value: Data?)
    /// Sends a value to the subscribers, or to some of them, for one notify credit each.
    /// `CBPeripheralManager.updateValue`.
    case updateValue(attribute: AttributeID, value: Data, centrals: [PeerID]?)
    /// Requests a connection interval. `CBPeripheralManager.setDesiredConnectionLatency`.
    case setConnectionLatency(central: PeerID, latency: ConnectionLatency)
    /// Listens for L2CAP channels: `channelPublished`. `CBPeripheralManager.publishL2CAPChannel`.
    case publishChannel(operation: OperationID, isEncryptionRequired: Bool)
    /// Stops listening: `channelUnpublished`. `CBPeripheralManager.unpublishL2CAPChannel`.
    case unpublishChannel(operation: OperationID, psm: UInt16)
    /// Uses an L2CAP channel.
    case channel(ChannelID, ChannelCommand)
}

/// The connection interval that a peripheral prefers.
///
/// Apple: `CBPeripheralManagerConnectionLatency`.
public enum ConnectionLatency: String, Hashable, Sendable, Codable {
    /// Answers quickly.
    case low
    /// Balances both.
    case medium
    /// Saves power.
    case high
}

/// A service to publish.
///
/// The manager chooses the identifiers.
public struct ServiceDefinition: Hashable, Sendable, Codable {
    /// A characteristic to publish.
    public struct Characteristic: Hashable, Sendable, Codable {
        /// Its identity within the manager.
        public var id: AttributeID
        /// Its type.
        public var uuid: BluetoothUUID
        /// Its properties.
        public var properties: CharacteristicProperties
        /// Its permissions.
        public var permissions: AttributePermissions
        /// The value that the backend serves; with nil, each read and write goes to the manager.
        public var staticValue: Data?
        /// Its descriptors.
        public var descriptors: [Descriptor]

        /// Creates a characteristic to publish.
        public init(
            id: AttributeID, uuid: BluetoothUUID, properties: CharacteristicProperties,
            permissions: AttributePermissions, staticValue: Data? = nil, descriptors: [Descriptor] = []
        ) {
            self.id = id
            self.uuid = uuid
            self.properties = properties
            self.permissions = permissions
            self.staticValue = staticValue
            self.descriptors = descriptors
        }
    }

    /// A descriptor to publish.
    public struct Descriptor: Hashable, Sendable, Codable {
        /// Its identity within the manager.
        public var id: AttributeID
        /// Its type.
        public var uuid: BluetoothUUID
        /// Its value, served by the backend.
        public var value: Data

        /// The accesses that the manager serves; nil if the backend serves ``value``, as it does for apps.
        package var permissions: AttributePermissions?

        /// Creates a descriptor to publish.
        public init(id: AttributeID, uuid: BluetoothUUID, value: Data) {
            self.id = id
            self.uuid = uuid
            self.value = value
        }

        /// Creates a descriptor whose value the manager serves.
        package init(id: AttributeID, uuid: BluetoothUUID, permissions: AttributePermissions) {
            self.init(id: id, uuid: uuid, value: Data())
            self.permissions = permissions
        }
    }

    /// Its identity within the manager.
    public var id: AttributeID
    /// Its type.
    public var uuid: BluetoothUUID
    /// Whether it is a primary service.
    public var isPrimary: Bool
    /// The published services that it includes.
    public var included: [AttributeID]
    /// Its characteristics.
    public var characteristics: [Characteristic]

    /// Creates a service to publish.
    public init(
        id: AttributeID, uuid: BluetoothUUID, isPrimary: Bool = true, included: [AttributeID] = [],
        characteristics: [Characteristic] = []
    ) {
        self.id = id
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.included = included
        self.characteristics = characteristics
    }
}

extension PeripheralCommand {
    /// A command without its content; the case names of ``PeripheralCommand``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case addService, removeService, removeAllServices, startAdvertising, stopAdvertising, respond, updateValue,
            setConnectionLatency, publishChannel, unpublishChannel, sendOnChannel, channelConsumed, closeChannel
    }

    /// The kind of this command.
    public var kind: Kind {
        switch self {
        case .addService: .addService
        case .removeService: .removeService
        case .removeAllServices: .removeAllServices
        case .startAdvertising: .startAdvertising
        case .stopAdvertising: .stopAdvertising
        case .respond: .respond
        case .updateValue: .updateValue
        case .setConnectionLatency: .setConnectionLatency
        case .publishChannel: .publishChannel
        case .unpublishChannel: .unpublishChannel
        case .channel(_, .send): .sendOnChannel
        case .channel(_, .consumed): .channelConsumed
        case .channel(_, .close): .closeChannel
        }
    }
}
