public import BluetoothSupport

/// The central role of one adapter for one manager: commands go in, ordered events come out.
///
/// Every backend fulfils this contract, and the contract suite tests it:
///
/// - ``RoleBackend/submit(_:)`` waits for no adapter and no peer, and never delivers inline. Events arrive one at a time,
///   in the order of the adapter.
/// - The first event is `stateChanged` (after `restored`, if a state was preserved).
/// - A link is a ``LinkID``, new at each `connected`. A command for a link that has ended is dropped without an event. One
///   `disconnected` ends every operation on a link; commands without a link end with the state event that
///   leaves `poweredOn`, and links that end with the adapter's power get no `disconnected`.
/// - A command with an ``OperationID`` is answered exactly once with the same identifier, unless its link or the
///   state ends first. Answers on one link come in the order of the commands; a write command is sent in its place
///   among them.
/// - Each write command costs one write credit; credits are granted in increments, the first with `connected`.
public protocol CentralBackend: RoleBackend where Command == CentralCommand, Event == CentralEvent {
    /// Returns the known peers among the given ones, in their order; from memory, never I/O.
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary]

    /// Returns the peers that are connected to the host by any program and offer one of the services; from memory,
    /// never I/O.
    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary]
}

/// A request of a central manager to the backend.
///
/// Each case names the public call behind it.
public enum CentralCommand: Hashable, Sendable, Codable {
    /// Scans, in place of any scan of this manager. `CBCentralManager.scanForPeripherals`.
    case startScan(ScanParameters)
    /// Ends this manager's scan. `CBCentralManager.stopScan`.
    case stopScan
    /// Connects, without a timeout; answered by `connected` or `connectFailed`. `CBCentralManager.connect`.
    case connect(peer: PeerID, operation: OperationID, options: ConnectOptions)
    /// Cancels a connect that has no answer yet, or releases this manager's lease of the link: `disconnected`
    /// with reason `local`, if the link was up. `CBCentralManager.cancelPeripheralConnection`.
    case disconnect(peer: PeerID)
    /// Reports connections of matching peers to the host; nil ends the reports.
    /// `CBCentralManager.registerForConnectionEvents`.
    indirect case setConnectionEventFilter(ConnectionEventFilter?)

    /// Begins an operation on a link, which one `response` answers, in the order of the requests.
    case request(link: LinkID, operation: OperationID, LinkRequest)
    /// Writes without response, for one credit. `CBPeripheral.writeValue`, without response.
    case writeCommand(link: LinkID, attribute: AttributeID, value: Data)
    /// Uses an L2CAP channel.
    case channel(ChannelID, ChannelCommand)
}

/// The parameters of a scan.
public struct ScanParameters: Hashable, Sendable, Codable {
    /// Reports peers that advertise any of these; nil or empty reports all.
    public var services: [BluetoothUUID]?
    /// Reports peers that solicit any of these, too.
    public var solicitedServices: [BluetoothUUID]
    /// Reports every packet.
    public var allowDuplicates: Bool

    /// Creates parameters.
    public init(
        services: [BluetoothUUID]? = nil, solicitedServices: [BluetoothUUID] = [], allowDuplicates: Bool = false
    ) {
        self.services = services
        self.solicitedServices = solicitedServices
        self.allowDuplicates = allowDuplicates
    }

    /// Whether an advertisement is wanted (Apple's rule: any advertised or overflow UUID, or any solicited one).
    public func matches(_ advertisement: Advertisement) -> Bool {
        let filter = services ?? []
        guard !filter.isEmpty || !solicitedServices.isEmpty else { return true }
        return filter.contains { uuid in
            advertisement.serviceUUIDs?.contains(uuid) == true
                || advertisement.overflowServiceUUIDs?.contains(uuid) == true
        } || solicitedServices.contains { advertisement.solicitedServiceUUIDs?.contains($0) == true }
    }
}

/// The options of a connect.
public struct ConnectOptions: Hashable, Sendable, Codable {
    /// Whether the backend reconnects after an unexpected loss.
    public var autoReconnect: Bool

    /// Creates options.
    public init(autoReconnect: Bool = false) {
        self.autoReconnect = autoReconnect
    }
}

/// A filter of connection events; a peer matches by either list.
public struct ConnectionEventFilter: Hashable, Sendable, Codable {
    /// Peers that offer one of these services.
    public var services: [BluetoothUUID]
    /// These peers.
    public var peers: [PeerID]

    /// Creates a filter.
    public init(services: [BluetoothUUID] = [], peers: [PeerID] = []) {
        self.services = services
        self.peers = peers
    }
}

extension CentralCommand {
    /// A command without its content, under its name in fault plans and traces.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case startScan, stopScan, connect, disconnect, setConnectionEventFilter, readRSSI, discoverServices,
            discoverIncludedServices, discoverCharacteristics, discoverDescriptors, read, write, writeCommand,
            setNotifying, openChannel, sendOnChannel, channelConsumed, closeChannel
    }

    /// The kind of this command.
    public var kind: Kind {
        switch self {
        case .startScan: .startScan
        case .stopScan: .stopScan
        case .connect: .connect
        case .disconnect: .disconnect
        case .setConnectionEventFilter: .setConnectionEventFilter
        case .request(_, _, let request): request.kind
        case .writeCommand: .writeCommand
        case .channel(_, .send): .sendOnChannel
        case .channel(_, .consumed): .channelConsumed
        case .channel(_, .close): .closeChannel
        }
    }
}

extension LinkRequest {
    fileprivate var kind: CentralCommand.Kind {
        switch self {
        case .readRSSI: .readRSSI
        case .discoverServices: .discoverServices
        case .discoverIncludedServices: .discoverIncludedServices
        case .discoverCharacteristics: .discoverCharacteristics
        case .discoverDescriptors: .discoverDescriptors
        case .read: .read
        case .write: .write
        case .setNotifying: .setNotifying
        case .openChannel: .openChannel
        }
    }
}
