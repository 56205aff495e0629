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
    /// The structures without a field: flags, appearance, the data of further companies and raw ones.
    ///
    /// The order is that of the packet; nil if the packet has none, or the backend does not know them.
    public var otherStructures: [AdvertisingStructure]?
    /// Whether a connection is accepted; nil if the backend does not know.
    public var isConnectable: Bool?

    /// Creates an advertisement with the given fields; omitted fields are absent.
    public init(
        localName: String? = nil, txPowerLevel: Int8? = nil, serviceUUIDs: [BluetoothUUID]? = nil,
        overflowServiceUUIDs: [BluetoothUUID]? = nil, solicitedServiceUUIDs: [BluetoothUUID]? = nil,
        serviceData: [BluetoothUUID: Data]? = nil, manufacturerData: Data? = nil,
        otherStructures: [AdvertisingStructure]? = nil, isConnectable: Bool? = nil
    ) {
        self.localName = localName
        self.txPowerLevel = txPowerLevel
        self.serviceUUIDs = serviceUUIDs
        self.overflowServiceUUIDs = overflowServiceUUIDs
        self.solicitedServiceUUIDs = solicitedServiceUUIDs
        self.serviceData = serviceData
        self.manufacturerData = manufacturerData
        self.otherStructures = otherStructures
        self.isConnectable = isConnectable
    }

    /// Copies the fields that `newer` contains, and keeps the others; UUID lists, service data and other structures are
    /// united.
    ///
    /// A union of more than 64 entries, which results only from a device that keeps changing its advertisement, is
    /// replaced by the newer entries.
    ///
    /// - Returns: Whether the advertisement changed.
    @discardableResult
    public mutating func merge(_ newer: Advertisement) -> Bool {
        var isChanged = Self.replace(&localName, by: newer.localName)
        isChanged = Self.replace(&txPowerLevel, by: newer.txPowerLevel) || isChanged
        isChanged = Self.replace(&manufacturerData, by: newer.manufacturerData) || isChanged
        isChanged = Self.replace(&isConnectable, by: newer.isConnectable) || isChanged
        isChanged = Self.unite(&serviceUUIDs, with: newer.serviceUUIDs) || isChanged
        isChanged = Self.unite(&overflowServiceUUIDs, with: newer.overflowServiceUUIDs) || isChanged
        isChanged = Self.unite(&solicitedServiceUUIDs, with: newer.solicitedServiceUUIDs) || isChanged
        isChanged = Self.unite(&otherStructures, with: newer.otherStructures) || isChanged
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

    /// Adds structures, each of which replaces an older one of the same subject.
    private static func unite(
        _ structures: inout [AdvertisingStructure]?, with newer: [AdvertisingStructure]?
    ) -> Bool {
        guard let newer else { return false }
        var union = structures ?? []
        for structure in newer {
            if let index = union.firstIndex(where: { $0.subject == structure.subject }) {
                union[index] = structure
            } else {
                union.append(structure)
            }
        }
        return replace(&structures, by: union.count <= longestUnion ? union : newer)
    }
}

/// One structure of an advertising packet, by the number of its type.
///
/// Source: Core Specification, Vol 3, Part C, 11; Assigned Numbers, 2.3.
public struct AdvertisingStructure: Hashable, Sendable, Codable {
    /// The type: 0x01 for the flags, 0x19 for the appearance, 0xFF for the data of a company.
    public var type: UInt8
    /// The content after the type; 254 bytes at most.
    public var data: Data

    /// Creates a structure.
    public init(type: UInt8, data: Data) {
        self.type = type
        self.data = data
    }

    /// The type, and the company of manufacturer data: a packet contains one structure for each subject.
    var subject: [UInt8] { [type] + (type == 0xFF ? Array(data.prefix(2)) : []) }
}

/// One report of the scanner.
public struct Discovery: Hashable, Sendable, Codable {
    /// The peer that sent it.
    public var peer: PeerID
    /// The peer's name as the host knows it (GAP Device Name, or advertised), if at all.
    public var name: String?
    /// The merged advertisement of the peer.
    public var advertisement: Advertisement
    /// The signal strength in dBm; 127 if not available.
    public var rssi: Int
    /// The address that the peer used, in the usual notation, if the backend knows it; for listings only.
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
