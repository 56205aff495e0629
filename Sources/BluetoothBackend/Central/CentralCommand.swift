public import BluetoothSupport

/// What a central manager asks of the radio.
///
/// Each case names the public call behind it.
public enum CentralCommand: Hashable, Sendable, Codable {
    /// Scans, in place of any scan of this manager. `CBCentralManager.scanForPeripherals`.
    case startScan(ScanParameters)
    /// Ends this manager's scan. `CBCentralManager.stopScan`.
    case stopScan
    /// Connects, however long it takes; answered by `connected` or `connectFailed`. `CBCentralManager.connect`.
    case connect(peer: PeerID, operation: OperationID, options: ConnectOptions)
    /// Takes back a connect that has no answer yet, or gives up this manager's share of the link: `disconnected`
    /// with reason `local`, if the link was up. `CBCentralManager.cancelPeripheralConnection`.
    case disconnect(peer: PeerID)
    /// Reports connections of matching peers to the host, nil for none.
    /// `CBCentralManager.registerForConnectionEvents`.
    indirect case setConnectionEventFilter(ConnectionEventFilter?)

    /// Begins an operation on a link, which one `response` answers, in the order of the requests.
    case request(link: LinkID, operation: OperationID, LinkRequest)
    /// Writes without response, for one credit. `CBPeripheral.writeValue`, without response.
    case writeCommand(link: LinkID, attribute: AttributeID, value: Data)
    /// Uses an L2CAP channel.
    case channel(ChannelID, ChannelCommand)
}

/// What a scan looks for.
public struct ScanParameters: Hashable, Sendable, Codable {
    /// Reports peers that advertise any of these; nil or empty reports all.
    public var services: [BluetoothUUID]?
    /// Reports peers that solicit any of these, too.
    public var solicitedServices: [BluetoothUUID]
    /// Reports every packet.
    public var allowDuplicates: Bool

    /// Collects what a scan looks for.
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

/// How to connect.
public struct ConnectOptions: Hashable, Sendable, Codable {
    /// Connects again by itself after an unexpected loss.
    public var autoReconnect: Bool

    /// Collects how to connect.
    public init(autoReconnect: Bool = false) {
        self.autoReconnect = autoReconnect
    }
}

/// Whose connections to the host are reported; a peer matches by either list.
public struct ConnectionEventFilter: Hashable, Sendable, Codable {
    /// Peers that offer one of these services.
    public var services: [BluetoothUUID]
    /// These peers.
    public var peers: [PeerID]

    /// Collects whose connections are reported.
    public init(services: [BluetoothUUID] = [], peers: [PeerID] = []) {
        self.services = services
        self.peers = peers
    }
}
