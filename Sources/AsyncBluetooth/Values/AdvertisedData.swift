public import CoreBluetooth

/// What a device told in its advertisements.
public struct AdvertisedData: Hashable, Sendable {
    /// The name in the advertisement, whole or shortened.
    public var localName: String?
    /// The services that it offers.
    public var serviceUUIDs: [CBUUID] = []
    /// The services for which there was no room.
    public var overflowServiceUUIDs: [CBUUID] = []
    /// The services that it looks for.
    public var solicitedServiceUUIDs: [CBUUID] = []
    /// Data of services.
    public var serviceData: [CBUUID: Data] = [:]
    /// The company's identifier, least significant byte first, and its data.
    public var manufacturerData: Data?
    /// The power with which it was sent, in dBm.
    public var txPowerLevel: Int?
    /// Whether the device takes connections; nil where the radio does not tell.
    public var isConnectable: Bool?

    /// Nothing.
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
    /// What it advertised.
    public let advertisement: AdvertisedData
    /// The signal strength in dBm; nil where the radio cannot tell.
    public let rssi: Int?
}
