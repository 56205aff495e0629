#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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

    /// Reads the link's signal strength: `rssiRead`. `CBPeripheral.readRSSI`.
    case readRSSI(link: LinkID, operation: OperationID)
    /// Finds services, all if nil: `servicesDiscovered`. `CBPeripheral.discoverServices`.
    case discoverServices(link: LinkID, operation: OperationID, uuids: [BluetoothUUID]?)
    /// Finds included services: `servicesDiscovered`. `CBPeripheral.discoverIncludedServices`.
    case discoverIncludedServices(
        link: LinkID, operation: OperationID, service: AttributeID, uuids: [BluetoothUUID]?)
    /// Finds characteristics: `characteristicsDiscovered`. `CBPeripheral.discoverCharacteristics`.
    case discoverCharacteristics(
        link: LinkID, operation: OperationID, service: AttributeID, uuids: [BluetoothUUID]?)
    /// Finds descriptors: `descriptorsDiscovered`. `CBPeripheral.discoverDescriptors`.
    case discoverDescriptors(link: LinkID, operation: OperationID, characteristic: AttributeID)
    /// Reads a whole value, up to 512 bytes: `valueRead`. `CBPeripheral.readValue`.
    case read(link: LinkID, operation: OperationID, attribute: AttributeID)
    /// Writes and waits for the peer's answer, long if need be: `written`. `CBPeripheral.writeValue`, with response.
    case write(link: LinkID, operation: OperationID, attribute: AttributeID, value: Data)
    /// Writes without an answer, for one credit. `CBPeripheral.writeValue`, without response.
    case writeCommand(link: LinkID, attribute: AttributeID, value: Data)
    /// Subscribes (notifications before indications) or unsubscribes: `notifyingChanged`.
    /// `CBPeripheral.setNotifyValue`.
    case setNotifying(link: LinkID, operation: OperationID, attribute: AttributeID, enabled: Bool)
    /// Opens an L2CAP channel: `channelOpened`. `CBPeripheral.openL2CAPChannel`.
    case openChannel(link: LinkID, operation: OperationID, psm: UInt16)
    /// Sends bytes, for that many channel credits. The output stream of `CBL2CAPChannel`.
    case sendOnChannel(channel: ChannelID, data: Data)
    /// Says that received bytes were taken from the buffer. The input stream of `CBL2CAPChannel`.
    case channelConsumed(channel: ChannelID, bytes: Int)
    /// Closes a channel. The streams of `CBL2CAPChannel`, or its release.
    case closeChannel(channel: ChannelID)
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
