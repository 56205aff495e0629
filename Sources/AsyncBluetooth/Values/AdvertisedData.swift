public import CoreBluetooth

/// The contents of a device's advertisements.
public struct AdvertisedData: Hashable, Sendable {
    /// The name in the advertisement, whole or shortened.
    public var localName: String?
    /// The services that the device offers.
    public var serviceUUIDs: [CBUUID] = []
    /// The services in the overflow area, for which the advertisement had no room.
    public var overflowServiceUUIDs: [CBUUID] = []
    /// The services that the device solicits.
    public var solicitedServiceUUIDs: [CBUUID] = []
    /// The data of each service.
    public var serviceData: [CBUUID: Data] = [:]
    /// The company's identifier, least significant byte first, and its data.
    public var manufacturerData: Data?
    /// The transmit power in dBm.
    public var txPowerLevel: Int?
    /// Whether the device accepts connections; nil where that is not known.
    public var isConnectable: Bool?

    /// Makes empty data.
    public init() {}

    /// Reads CoreBluetooth's dictionary.
    init(_ dictionary: [String: Any]) {
        localName = dictionary[CBAdvertisementDataLocalNameKey] as? String
        serviceUUIDs = dictionary[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        overflowServiceUUIDs = dictionary[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] ?? []
        solicitedServiceUUIDs = dictionary[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] ?? []
        serviceData = dictionary[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        manufacturerData = dictionary[CBAdvertisementDataManufacturerDataKey] as? Data
        txPowerLevel = (dictionary[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue
        isConnectable = (dictionary[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue
    }
}

/// A device that a scan found.
public struct DiscoveredPeripheral: Sendable {
    /// The device.
    public let peripheral: Peripheral
    /// The contents of its advertisements.
    public let advertisement: AdvertisedData
    /// The signal strength in dBm; nil where that is not known.
    public let rssi: Int?
}
