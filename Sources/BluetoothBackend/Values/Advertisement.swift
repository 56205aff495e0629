public import BluetoothSupport

/// The advertising and scan-response data of a device, merged.
///
/// Source: Core Specification Supplement, Part A.
public struct Advertisement: Hashable, Sendable, Codable {
    /// The complete or shortened local name.
    public var localName: String?
    /// The transmit power in dBm.
    public var txPowerLevel: Int8?
    /// The advertised service UUIDs.
    public var serviceUUIDs: [BluetoothUUID]?
    /// Service UUIDs that only Apple's overflow area carried.
    public var overflowServiceUUIDs: [BluetoothUUID]?
    /// The service UUIDs that the device looks for.
    public var solicitedServiceUUIDs: [BluetoothUUID]?
    /// Data of services, by UUID.
    public var serviceData: [BluetoothUUID: Data]?
    /// A company identifier, least significant byte first, and the company's data.
    public var manufacturerData: Data?
    /// Whether a connection is accepted; nil if the backend does not know.
    public var isConnectable: Bool?

    /// An advertisement with the given fields; what is left out is absent.
    public init(
        localName: String? = nil, txPowerLevel: Int8? = nil, serviceUUIDs: [BluetoothUUID]? = nil,
        overflowServiceUUIDs: [BluetoothUUID]? = nil, solicitedServiceUUIDs: [BluetoothUUID]? = nil,
        serviceData: [BluetoothUUID: Data]? = nil, manufacturerData: Data? = nil, isConnectable: Bool? = nil
    ) {
        self.localName = localName
        self.txPowerLevel = txPowerLevel
        self.serviceUUIDs = serviceUUIDs
        self.overflowServiceUUIDs = overflowServiceUUIDs
        self.solicitedServiceUUIDs = solicitedServiceUUIDs
        self.serviceData = serviceData
        self.manufacturerData = manufacturerData
        self.isConnectable = isConnectable
    }

    /// Copies the fields that `newer` contains, and leaves the others; UUID lists and service data are united.
    ///
    /// A union of more than 64 entries, which only a device that keeps changing what it says comes to, is given up: the
    /// newer entries alone stay.
    ///
    /// - Returns: Whether that changed anything.
    @discardableResult
    public mutating func merge(_ newer: Advertisement) -> Bool {
        var isChanged = Self.replace(&localName, by: newer.localName)
        isChanged = Self.replace(&txPowerLevel, by: newer.txPowerLevel) || isChanged
        isChanged = Self.replace(&manufacturerData, by: newer.manufacturerData) || isChanged
        isChanged = Self.replace(&isConnectable, by: newer.isConnectable) || isChanged
        isChanged = Self.unite(&serviceUUIDs, with: newer.serviceUUIDs) || isChanged
        isChanged = Self.unite(&overflowServiceUUIDs, with: newer.overflowServiceUUIDs) || isChanged
        isChanged = Self.unite(&solicitedServiceUUIDs, with: newer.solicitedServiceUUIDs) || isChanged
        guard let data = newer.serviceData else { return isChanged }
        let union = (serviceData ?? [:]).merging(data) { $1 }
        return Self.replace(&serviceData, by: union.count <= Self.longestUnion ? union : data) || isChanged
    }

    private static let longestUnion = 64

    private static func replace<Field: Equatable>(_ field: inout Field?, by newer: Field?) -> Bool {
        guard let newer, newer != field else { return false }
        field = newer
        return true
    }

    private static func unite(_ uuids: inout [BluetoothUUID]?, with newer: [BluetoothUUID]?) -> Bool {
        guard let newer else { return false }
        guard let old = uuids else {
            uuids = newer
            return true
        }
        let added = newer.filter { !old.contains($0) }
        guard !added.isEmpty else { return false }
        uuids = old.count + added.count <= longestUnion ? old + added : newer
        return true
    }
}

/// One report of the scanner.
public struct Discovery: Hashable, Sendable, Codable {
    /// The peer that sent it.
    public var peer: PeerID
    /// The peer's name as the host knows it (GAP Device Name, or advertised), if at all.
    public var name: String?
    /// All that is known of its advertisement.
    public var advertisement: Advertisement
    /// The signal strength in dBm; 127 if not available.
    public var rssi: Int
    /// The address it was heard under, as people write it, if the backend knows it; for listings only.
    public var address: String?

    /// Creates a report.
    public init(peer: PeerID, name: String?, advertisement: Advertisement, rssi: Int, address: String? = nil) {
        self.peer = peer
        self.address = address
        self.name = name
        self.advertisement = advertisement
        self.rssi = rssi
    }
}
