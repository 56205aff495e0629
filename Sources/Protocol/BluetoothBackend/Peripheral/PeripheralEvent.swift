public import BluetoothSupport

/// An event of the backend for a peripheral manager.
///
/// Each case names the delegate method that it leads to.
public enum PeripheralEvent: Hashable, Sendable, Codable {
    /// The adapter's state changed, or is reported for the first time. `peripheralManagerDidUpdateState`.
    case stateChanged(AdapterState)
    /// The permission changed; a `stateChanged` follows if the state changed too.
    case authorizationChanged(AuthorizationStatus)
    /// The preserved state of an earlier process, before the first state. `peripheralManager(_:willRestoreState:)`.
    indirect case restored(RestoredPeripheralState)
    /// Answers `addService`. `peripheralManager(_:didAdd:error:)`.
    case serviceAdded(operation: OperationID)
    /// Answers `startAdvertising`. `peripheralManagerDidStartAdvertising`.
    case advertisingStarted(operation: OperationID)
    /// The system's Bluetooth service ended the advertisement without a command.
    case advertisingEnded
    /// A central subscribed; `notifyCredits` values may be sent to it initially.
    ///
    /// Its credits count from the first of its subscriptions to the end of its last: a later subscription grants none,
    /// and one after the end of the last grants them again.
    ///
    /// `peripheralManager(_:central:didSubscribeTo:)`.
    case subscribed(central: PeerID, attribute: AttributeID, mtu: Int, notifyCredits: Int)
    /// A central unsubscribed or disconnected. `peripheralManager(_:central:didUnsubscribeFrom:)`.
    case unsubscribed(central: PeerID, attribute: AttributeID)
    /// More values may be sent to a central. `peripheralManagerIsReady(toUpdateSubscribers:)`.
    case notifyCredits(central: PeerID, count: Int)
    /// The ATT MTU with a central changed, in bytes.
    case mtuChanged(central: PeerID, mtu: Int)
    /// A central reads from an offset. `peripheralManager(_:didReceiveRead:)`.
    case readRequested(request: RequestID, central: PeerID, attribute: AttributeID, offset: Int, mtu: Int)
    /// A central writes; a prepared write is one request of several parts. `peripheralManager(_:didReceiveWrite:)`.
    case writeRequested(request: RequestID, central: PeerID, mtu: Int, wantsResponse: Bool, parts: [WritePart])
    /// The backend answered the request itself, because no answer came in time.
    case requestExpired(request: RequestID)
    /// Answers `publishChannel`. `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    case channelPublished(operation: OperationID, psm: UInt16)
    /// Answers `unpublishChannel`. `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    case channelUnpublished(operation: OperationID, psm: UInt16)
    /// A central opened a channel. `peripheralManager(_:didOpen:error:)`.
    case channelOpened(channel: ChannelID, psm: UInt16, central: PeerID, credits: Int)
    /// An event of an open L2CAP channel.
    case channel(ChannelID, ChannelEvent)
    /// An operation failed; its delegate method receives the error.
    indirect case operationFailed(operation: OperationID, error: BackendError)
}

/// One part of a write request.
public struct WritePart: Hashable, Sendable, Codable {
    /// The attribute.
    public var attribute: AttributeID
    /// The offset of the part, in bytes.
    public var offset: Int
    /// The bytes.
    public var value: Data

    /// Creates a part of a write request.
    public init(attribute: AttributeID, offset: Int, value: Data) {
        self.attribute = attribute
        self.offset = offset
        self.value = value
    }
}

/// The preserved state of a peripheral manager of an earlier process.
public struct RestoredPeripheralState: Hashable, Sendable, Codable {
    /// A subscription of a central to a characteristic.
    public struct Subscription: Hashable, Sendable, Codable {
        /// The peer.
        public var central: PeerID
        /// The characteristic.
        public var attribute: AttributeID
        /// The ATT MTU in bytes.
        public var mtu: Int

        /// Creates a subscription of a central to a characteristic.
        public init(central: PeerID, attribute: AttributeID, mtu: Int) {
            self.central = central
            self.attribute = attribute
            self.mtu = mtu
        }
    }

    /// The published services, in the order of their publication; they are still published.
    public var services: [ServiceDefinition]
    /// Their subscribers.
    public var subscriptions: [Subscription]
    /// The advertisement that was running; the manager starts it again when the adapter is on.
    public var advertisement: Advertisement?

    /// Creates a preserved state.
    public init(
        services: [ServiceDefinition] = [], subscriptions: [Subscription] = [], advertisement: Advertisement? = nil
    ) {
        self.services = services
        self.subscriptions = subscriptions
        self.advertisement = advertisement
    }
}

extension PeripheralEvent {
    /// An event without its content; the case names of ``PeripheralEvent``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case stateChanged, authorizationChanged, restored, serviceAdded, advertisingStarted, advertisingEnded,
            subscribed, unsubscribed, notifyCredits, mtuChanged, readRequested, writeRequested, requestExpired,
            channelPublished, channelUnpublished, channelOpened, channelReceived, channelCredits, channelClosed,
            operationFailed
    }

    /// The kind of this event.
    public var kind: Kind {
        switch self {
        case .stateChanged: .stateChanged
        case .authorizationChanged: .authorizationChanged
        case .restored: .restored
        case .serviceAdded: .serviceAdded
        case .advertisingStarted: .advertisingStarted
        case .advertisingEnded: .advertisingEnded
        case .subscribed: .subscribed
        case .unsubscribed: .unsubscribed
        case .notifyCredits: .notifyCredits
        case .mtuChanged: .mtuChanged
        case .readRequested: .readRequested
        case .writeRequested: .writeRequested
        case .requestExpired: .requestExpired
        case .channelPublished: .channelPublished
        case .channelUnpublished: .channelUnpublished
        case .channelOpened: .channelOpened
        case .channel(_, .received): .channelReceived
        case .channel(_, .credits): .channelCredits
        case .channel(_, .closed): .channelClosed
        case .operationFailed: .operationFailed
        }
    }
}

// The operations, centrals, attributes and channels that commands and events of the peripheral role name; nil if the
// case has none.

extension PeripheralCommand {
    package var operation: OperationID? {
        switch self {
        case .addService(let operation, _), .startAdvertising(let operation, _), .publishChannel(let operation, _),
            .unpublishChannel(let operation, _):
            operation
        default: nil
        }
    }

    package var channel: ChannelID? {
        if case .channel(let channel, _) = self { channel } else { nil }
    }
}

extension PeripheralEvent {
    package var operation: OperationID? {
        switch self {
        case .serviceAdded(let operation), .advertisingStarted(let operation), .channelPublished(let operation, _),
            .channelUnpublished(let operation, _), .operationFailed(let operation, _):
            operation
        default: nil
        }
    }

    package var central: PeerID? {
        switch self {
        case .subscribed(let central, _, _, _), .unsubscribed(let central, _), .notifyCredits(let central, _),
            .mtuChanged(let central, _), .readRequested(_, let central, _, _, _),
            .writeRequested(_, let central, _, _, _), .channelOpened(_, _, let central, _):
            central
        default: nil
        }
    }

    package var attribute: AttributeID? {
        switch self {
        case .subscribed(_, let attribute, _, _), .unsubscribed(_, let attribute),
            .readRequested(_, _, let attribute, _, _):
            attribute
        case .writeRequested(_, _, _, _, let parts): parts.first?.attribute
        default: nil
        }
    }

    package var channel: ChannelID? {
        switch self {
        case .channelOpened(let channel, _, _, _), .channel(let channel, _): channel
        default: nil
        }
    }
}
