public import BluetoothSupport

/// An event of the backend for a central manager.
///
/// Each case names the delegate method that it leads to.
public enum CentralEvent: Hashable, Sendable, Codable {
    /// The adapter's state changed, or is reported for the first time. `centralManagerDidUpdateState`.
    case stateChanged(AdapterState)
    /// The permission changed; a `stateChanged` follows if the state changed too.
    case authorizationChanged(AuthorizationStatus)
    /// The preserved state of an earlier process, before the first state. `centralManager(_:willRestoreState:)`.
    indirect case restored(RestoredCentralState)
    /// A peer was heard. `centralManager(_:didDiscover:advertisementData:rssi:)`.
    indirect case discovered(Discovery)
    /// A link is up; echoes the connect's operation, also after a reconnection. `centralManager(_:didConnect:)`.
    case connected(peer: PeerID, link: LinkID, operation: OperationID, parameters: LinkParameters)
    /// A connect ended without a link. `centralManager(_:didFailToConnect:error:)`.
    indirect case connectFailed(peer: PeerID, operation: OperationID, error: BackendError)
    /// A link ended; with `isReconnecting`, the connect's operation continues. The app gets `error`, if present,
    /// instead of an error from the reason.
    /// `centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)`.
    case disconnected(
        link: LinkID, reason: DisconnectReason, at: Date, isReconnecting: Bool, error: OpaqueError? = nil)
    /// The peer's name, as the host knows it, changed. `peripheralDidUpdateName`.
    case nameChanged(peer: PeerID, name: String?, source: NameSource)
    /// The host forgot the peer; its identifier is no longer valid.
    case peerForgotten(peer: PeerID)
    /// A peer connected to the host or disconnected from it.
    /// `centralManager(_:connectionEventDidOccur:for:)`.
    case connectionEvent(peer: PeerID, isConnected: Bool)
    /// The permission of the peer to receive the phone's notifications (ANCS) changed.
    /// `centralManager(_:didUpdateANCSAuthorizationFor:)`.
    case ancsAuthorizationChanged(peer: PeerID, isAuthorized: Bool)

    /// The link's ATT MTU changed, in bytes.
    case mtuChanged(link: LinkID, mtu: Int)
    /// More write commands may be sent. `peripheralIsReady(toSendWriteWithoutResponse:)`.
    case writeCredits(link: LinkID, count: Int)
    /// Services were removed, with their contents, and added. `peripheral(_:didModifyServices:)`.
    case servicesChanged(link: LinkID, removed: [AttributeID], added: [ServiceRecord])

    /// Answers a `request`.
    case response(link: LinkID, operation: OperationID, LinkResponse)
    /// A notification or an indication. `peripheral(_:didUpdateValueFor:error:)`.
    case valueNotified(link: LinkID, attribute: AttributeID, value: Data)
    /// A subscription ended without a request, although the link is up: the host could not keep or restore it.
    /// `peripheral(_:didUpdateNotificationStateFor:error:)`.
    indirect case subscriptionEnded(link: LinkID, attribute: AttributeID, error: BackendError)
    /// An event of an open L2CAP channel.
    case channel(ChannelID, ChannelEvent)
}

/// The initial parameters of a link.
public struct LinkParameters: Hashable, Sendable, Codable {
    /// The ATT MTU in bytes, 23...517.
    public var mtu: Int
    /// The number of write commands that may be sent at first.
    public var writeCredits: Int

    /// Creates parameters.
    public init(mtu: Int, writeCredits: Int) {
        self.mtu = mtu
        self.writeCredits = writeCredits
    }
}

/// The reason why a link ended.
public enum DisconnectReason: String, Hashable, Sendable, Codable {
    /// This manager ended it.
    case local
    /// The peer ended it.
    case remote
    /// Nothing was heard for the supervision timeout.
    case timeout
    /// The keys do not match.
    case authentication
    /// The reason is unknown.
    case unknown
}

/// The source of a name.
public enum NameSource: String, Hashable, Sendable, Codable {
    /// The GAP Device Name characteristic.
    case gap
    /// Advertising data.
    case advertised
}

/// The preserved state of a central manager of an earlier process.
public struct RestoredCentralState: Hashable, Sendable, Codable {
    /// A peer with a connection, or with a pending connect.
    public struct Peer: Hashable, Sendable, Codable {
        /// The peer.
        public var summary: PeerSummary
        /// The connect that a later `connected` will echo, or that led to `link`.
        public var operation: OperationID
        /// The open link; nil while connecting.
        public var link: LinkID?
        /// The initial parameters of the link; nil while connecting.
        public var parameters: LinkParameters?
        /// The services that the earlier process knew.
        public var services: [Service]

        /// Creates a peer with a connection, or with a pending connect.
        public init(
            summary: PeerSummary, operation: OperationID, link: LinkID? = nil, parameters: LinkParameters? = nil,
            services: [Service] = []
        ) {
            self.summary = summary
            self.operation = operation
            self.link = link
            self.parameters = parameters
            self.services = services
        }
    }

    /// A known service and its known characteristics.
    public struct Service: Hashable, Sendable, Codable {
        /// The service.
        public var record: ServiceRecord
        /// Its characteristics.
        public var characteristics: [CharacteristicRecord]
        /// The subscribed ones among them.
        public var notifying: [AttributeID]

        /// Creates a known service with its known characteristics.
        public init(
            record: ServiceRecord, characteristics: [CharacteristicRecord] = [], notifying: [AttributeID] = []
        ) {
            self.record = record
            self.characteristics = characteristics
            self.notifying = notifying
        }
    }

    /// The peers with connections or pending connects.
    public var peers: [Peer]
    /// The scan that was running; the manager starts it again when the adapter is on.
    public var scan: ScanParameters?

    /// Creates a preserved state.
    public init(peers: [Peer] = [], scan: ScanParameters? = nil) {
        self.peers = peers
        self.scan = scan
    }
}

extension CentralEvent {
    /// An event without its content, under its name in fault plans and traces.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case stateChanged, authorizationChanged, restored, discovered, connected, connectFailed, disconnected,
            nameChanged, peerForgotten, connectionEvent, ancsAuthorizationChanged, mtuChanged, writeCredits,
            servicesChanged, rssiRead, servicesDiscovered, characteristicsDiscovered, descriptorsDiscovered,
            valueRead, written, notifyingChanged, valueNotified, subscriptionEnded, channelOpened, channelReceived,
            channelCredits, channelClosed, operationFailed
    }

    /// The kind of this event.
    public var kind: Kind {
        switch self {
        case .stateChanged: .stateChanged
        case .authorizationChanged: .authorizationChanged
        case .restored: .restored
        case .discovered: .discovered
        case .connected: .connected
        case .connectFailed: .connectFailed
        case .disconnected: .disconnected
        case .nameChanged: .nameChanged
        case .peerForgotten: .peerForgotten
        case .connectionEvent: .connectionEvent
        case .ancsAuthorizationChanged: .ancsAuthorizationChanged
        case .mtuChanged: .mtuChanged
        case .writeCredits: .writeCredits
        case .servicesChanged: .servicesChanged
        case .response(_, _, let response): response.kind
        case .valueNotified: .valueNotified
        case .subscriptionEnded: .subscriptionEnded
        case .channel(_, .received): .channelReceived
        case .channel(_, .credits): .channelCredits
        case .channel(_, .closed): .channelClosed
        }
    }
}

extension LinkResponse {
    fileprivate var kind: CentralEvent.Kind {
        switch self {
        case .rssi: .rssiRead
        case .services: .servicesDiscovered
        case .characteristics: .characteristicsDiscovered
        case .descriptors: .descriptorsDiscovered
        case .value: .valueRead
        case .written: .written
        case .notifying: .notifyingChanged
        case .channel: .channelOpened
        case .failure: .operationFailed
        }
    }
}
