public import BluetoothBackend
public import BluetoothSupport

/// The content of one advertising or scan-response packet.
///
/// Source: Core Specification Supplement, Part A.
public struct AdvertisingData: Hashable, Sendable {
    /// The complete local name.
    public var localName: String?
    /// The transmit power in dBm.
    public var txPowerLevel: Int8?
    /// Service UUIDs; each width has a list of its own in the packet.
    public var services: [BluetoothUUID]
    /// Service UUIDs that the device looks for.
    public var solicitedServices: [BluetoothUUID]
    /// Data of services.
    public var serviceData: [BluetoothUUID: Data]
    /// A company identifier, least significant byte first, and the company's data.
    public var manufacturerData: Data?

    /// The content of one packet.
    public init(
        localName: String? = nil, txPowerLevel: Int8? = nil, services: [BluetoothUUID] = [],
        solicitedServices: [BluetoothUUID] = [], serviceData: [BluetoothUUID: Data] = [:],
        manufacturerData: Data? = nil
    ) {
        self.localName = localName
        self.txPowerLevel = txPowerLevel
        self.services = services
        self.solicitedServices = solicitedServices
        self.serviceData = serviceData
        self.manufacturerData = manufacturerData
    }

    /// The bytes that the content takes in a packet, without the flags.
    public var encodedLength: Int {
        var length = 0
        if let localName { length += 2 + localName.utf8.count }
        if txPowerLevel != nil { length += 3 }
        for list in [services, solicitedServices] {
            for (_, uuids) in Dictionary(grouping: list, by: \.width) {
                length += 2 + uuids.reduce(0) { $0 + Int($1.width.rawValue) }
            }
        }
        for (uuid, data) in serviceData { length += 2 + Int(uuid.width.rawValue) + data.count }
        if let manufacturerData { length += 2 + manufacturerData.count }
        return length
    }

    /// What a scanner makes of it.
    func advertisement(isConnectable: Bool?) -> Advertisement {
        Advertisement(
            localName: localName, txPowerLevel: txPowerLevel, serviceUUIDs: services.isEmpty ? nil : services,
            solicitedServiceUUIDs: solicitedServices.isEmpty ? nil : solicitedServices,
            serviceData: serviceData.isEmpty ? nil : serviceData, manufacturerData: manufacturerData,
            isConnectable: isConnectable)
    }
}

/// One advertising set of a device: what it sends, how often, and when.
public struct AdvertisingDescription: Hashable, Sendable {
    /// What each packet says, besides the flags; 28 bytes at most if connectable, else 31; extended, 245 and 1,650.
    public var data: AdvertisingData
    /// What a scanner gets on asking; 31 bytes at most.
    public var scanResponse: AdvertisingData?
    /// The time between packets, 20 ms...10.24 s; the radio adds 0–10 ms each time.
    ///
    /// Zero sends one packet each time it is switched on.
    ///
    /// Source: Core Specification, Vol 6, Part B, 4.4.2.2.
    public var interval: Duration
    /// Whether a central may connect in answer to a packet.
    public var isConnectable: Bool
    /// Whether it goes on while a central is connected.
    public var continuesWhileConnected: Bool
    /// Whether it is on at first.
    public var isEnabled: Bool
    /// How long it goes on each time it is switched on; nil goes on for good.
    public var duration: Duration?
    /// Whether it uses extended advertising: longer data, no scan response if connectable, and heard only by radios
    /// that can.
    ///
    /// Source: Core Specification, Vol 6, Part B, 4.4.2.12, and Vol 4, Part E, 7.8.54.
    public var isExtended: Bool

    /// One advertising set.
    public init(
        _ data: AdvertisingData, scanResponse: AdvertisingData? = nil, interval: Duration = .milliseconds(100),
        isConnectable: Bool = true, continuesWhileConnected: Bool = false, isEnabled: Bool = true,
        duration: Duration? = nil, isExtended: Bool = false
    ) {
        self.data = data
        self.scanResponse = scanResponse
        self.interval = interval
        self.isConnectable = isConnectable
        self.continuesWhileConnected = continuesWhileConnected
        self.isEnabled = isEnabled
        self.duration = duration
        self.isExtended = isExtended
    }

    /// Checks what an advertising packet can carry.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    public func validate(path: String = "advertising") throws(DescriptionError) {
        guard interval == .zero || (.milliseconds(20) ... .milliseconds(10_240)).contains(interval) else {
            throw DescriptionError("\(path).interval", "the advertising interval is 20 ms...10.24 s, or 0")
        }
        if let duration, duration <= .zero {
            throw DescriptionError("\(path).duration", "the duration is more than 0")
        }
        if isExtended, isConnectable, scanResponse != nil {
            throw DescriptionError("\(path).scanResponse", "extended advertising is connectable or scannable, not both")
        }
        let room = isExtended ? (isConnectable ? 245 : 1_650) : (isConnectable ? 28 : 31)
        guard data.encodedLength <= room else {
            throw DescriptionError(
                "\(path).data",
                "\(data.encodedLength) bytes do not fit: a packet has room for \(room) besides the flags")
        }
        let responseRoom = isExtended ? 1_650 : 31
        if let scanResponse, scanResponse.encodedLength > responseRoom {
            throw DescriptionError(
                "\(path).scanResponse",
                "\(scanResponse.encodedLength) bytes do not fit: a scan response has \(responseRoom)")
        }
    }
}
