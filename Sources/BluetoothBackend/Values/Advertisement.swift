#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a device says of itself on the air: advertising and scan-response data, merged.
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
    /// Whether a connection is accepted; nil if the radio does not tell.
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

    /// Takes over the fields that `newer` has and keeps the others; UUID lists and service data are united.
    public mutating func merge(_ newer: Advertisement) {
        localName = newer.localName ?? localName
        txPowerLevel = newer.txPowerLevel ?? txPowerLevel
        manufacturerData = newer.manufacturerData ?? manufacturerData
        isConnectable = newer.isConnectable ?? isConnectable
        serviceUUIDs = Self.union(serviceUUIDs, newer.serviceUUIDs)
        overflowServiceUUIDs = Self.union(overflowServiceUUIDs, newer.overflowServiceUUIDs)
        solicitedServiceUUIDs = Self.union(solicitedServiceUUIDs, newer.solicitedServiceUUIDs)
        if let data = newer.serviceData { serviceData = (serviceData ?? [:]).merging(data) { $1 } }
    }

    private static func union(_ old: [BluetoothUUID]?, _ new: [BluetoothUUID]?) -> [BluetoothUUID]? {
        guard let old else { return new }
        guard let new else { return old }
        return old + new.filter { !old.contains($0) }
    }
}

/// One report of the scanner.
public struct Discovery: Hashable, Sendable, Codable {
    /// Who was heard.
    public var peer: PeerID
    /// The peer's name as the host knows it (GAP Device Name, or advertised), if at all.
    public var name: String?
    /// All that is known of its advertisement.
    public var advertisement: Advertisement
    /// The signal strength in dBm; 127 if not available.
    public var rssi: Int
    /// The address it was heard under, as people write it, if the radio tells; for listings only.
    public var address: String?

    /// One report.
    public init(peer: PeerID, name: String?, advertisement: Advertisement, rssi: Int, address: String? = nil) {
        self.peer = peer
        self.address = address
        self.name = name
        self.advertisement = advertisement
        self.rssi = rssi
    }
}
