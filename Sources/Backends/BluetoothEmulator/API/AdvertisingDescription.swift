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
    /// The service UUIDs; the packet has a separate list for each UUID width.
    public var services: [BluetoothUUID]
    /// The service UUIDs that the device solicits.
    public var solicitedServices: [BluetoothUUID]
    /// The data of services, by service UUID.
    public var serviceData: [BluetoothUUID: Data]
    /// A company identifier, least significant byte first, and the company's data.
    public var manufacturerData: Data?
    /// The structures that no other field holds; flags among them replace the usual ones.
    package var otherStructures: [AdvertisingStructure] = []
    /// The bytes of the packet as a host outside of the emulator gave them, flags included; nil encodes the fields.
    package var encoded: [UInt8]?

    /// Creates the content of one packet.
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

    /// The number of bytes that the content takes in a packet, without the flags.
    public var encodedLength: Int {
        if let encoded { return encoded.count }
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
        for structure in otherStructures where structure.type != 0x01 { length += 2 + structure.data.count }
        return length
    }

    /// Creates the content of the packets that a scanner reported as one advertisement.
    package init(_ advertisement: Advertisement) {
        self.init(
            localName: advertisement.localName, txPowerLevel: advertisement.txPowerLevel,
            services: advertisement.serviceUUIDs ?? [], solicitedServices: advertisement.solicitedServiceUUIDs ?? [],
            serviceData: advertisement.serviceData ?? [:], manufacturerData: advertisement.manufacturerData)
        otherStructures = advertisement.otherStructures ?? []
    }

    /// The advertisement that a scanner reports.
    package func advertisement(isConnectable: Bool?) -> Advertisement {
        Advertisement(
            localName: localName, txPowerLevel: txPowerLevel, serviceUUIDs: services.isEmpty ? nil : services,
            solicitedServiceUUIDs: solicitedServices.isEmpty ? nil : solicitedServices,
            serviceData: serviceData.isEmpty ? nil : serviceData, manufacturerData: manufacturerData,
            otherStructures: otherStructures.isEmpty ? nil : otherStructures, isConnectable: isConnectable)
    }
}

/// One advertising set of a device: its data, its timing and its kind.
public struct AdvertisingDescription: Hashable, Sendable {
    /// The data of each packet without the flags: at most 28 bytes if connectable, else 31; extended, 245 and 1,650.
    public var data: AdvertisingData
    /// The scan response, at most 31 bytes.
    public var scanResponse: AdvertisingData?
    /// The time between packets, 20 ms...10.24 s; the link layer adds 0–10 ms each time.
    ///
    /// Zero sends one packet each time the set is switched on.
    ///
    /// Source: Core Specification, Vol 6, Part B, 4.4.2.2.
    public var interval: Duration
    /// Whether a central may connect in response to a packet.
    public var isConnectable: Bool
    /// Whether the set continues while a central is connected.
    public var continuesWhileConnected: Bool
    /// Whether the set is on at first.
    public var isEnabled: Bool
    /// The time for which the set stays on each time it is switched on; nil for no limit.
    public var duration: Duration?
    /// Whether the set uses extended advertising: longer data, no scan response if connectable, and received only by
    /// adapters that support it.
    ///
    /// Source: Core Specification, Vol 6, Part B, 4.4.2.12, and Vol 4, Part E, 7.8.54.
    public var isExtended: Bool

    /// Creates an advertising set.
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

    /// The maximum sizes of the data in a connectable legacy and in a connectable extended packet, without flags, in
    /// bytes.
    static let (legacyRoom, extendedRoom) = (28, 245)
    /// Source: Core Specification, Vol 6, Part B, 4.4.2.2.
    static let intervals: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(10_240)

    /// Checks that the advertising packets can carry the content.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func validate(path: String = "advertising") throws(DescriptionError) {
        try require(
            interval == .zero || Self.intervals.contains(interval), "\(path).interval",
            "the advertising interval is 20 ms...10.24 s, or 0")
        try require(duration.map { $0 > .zero } ?? true, "\(path).duration", "the duration is more than 0")
        try require(
            !isExtended || !isConnectable || scanResponse == nil, "\(path).scanResponse",
            "extended advertising is connectable or scannable, not both")
        // The flags need room unless the host has encoded them.
        let hasFlags = isConnectable && data.encoded == nil
        let room = isExtended ? (hasFlags ? Self.extendedRoom : 1_650) : (hasFlags ? Self.legacyRoom : 31)
        try require(
            data.encodedLength <= room, "\(path).data",
            "\(data.encodedLength) bytes do not fit: a packet has room for \(room) besides the flags")
        let responseRoom = isExtended ? 1_650 : 31
        let responseLength = scanResponse?.encodedLength ?? 0
        try require(
            responseLength <= responseRoom, "\(path).scanResponse",
            "\(responseLength) bytes do not fit: a scan response has \(responseRoom)")
    }
}

/// A Bluetooth device address of 48 bits.
///
/// Source: Core Specification, Vol 6, Part B, 1.3.
public struct DeviceAddress: Hashable, Sendable, Comparable {
    /// The address, most significant byte first: 0...0xFFFF_FFFF_FFFF.
    public let bits: UInt64

    /// Creates an address from the low 48 bits.
    public init(bits: UInt64) { self.bits = bits & 0xFFFF_FFFF_FFFF }

    /// Parses text such as `F0:F1:F2:F3:F4:F5`, in either letter case.
    ///
    /// - Returns: nil if the text is not an address.
    public init?(_ text: String) {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count == 6 else { return nil }
        var bits: UInt64 = 0
        for group in groups {
            guard group.utf8.count == 2, !group.hasPrefix("+"), let byte = UInt8(group, radix: 16) else { return nil }
            bits = bits << 8 | UInt64(byte)
        }
        self.bits = bits
    }

    /// Whether the address is a random address.
    ///
    /// On the air, a separate bit distinguishes random from public addresses. The emulator derives it from the two
    /// highest bits: 11 is a static random address, 01 a resolvable private address, and any other address is public.
    /// Non-resolvable private addresses, with the bits 00, do not occur. Source: Core Specification, Vol 6, Part B,
    /// 1.3.2.
    public var isRandom: Bool { bits >> 46 & 1 == 1 }

    /// Compares the addresses as numbers.
    public static func < (left: Self, right: Self) -> Bool { left.bits < right.bits }
}

extension DeviceAddress: CustomStringConvertible {
    /// The address as six groups of two uppercase digits.
    public var description: String {
        (0..<6).reversed().map { index in
            let byte = String(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(index))), radix: 16, uppercase: true)
            return byte.count == 1 ? "0" + byte : byte
        }.joined(separator: ":")
    }
}

extension DeviceAddress: ExpressibleByStringLiteral {
    /// Creates an address from a literal; traps if the literal is not an address.
    public init(stringLiteral text: String) {
        guard let address = Self(text) else { preconditionFailure("\"\(text)\" is not a Bluetooth address") }
        self = address
    }
}

/// The distance of a device, in steps.
public enum Proximity: String, Hashable, Sendable, CaseIterable {
    /// Beside the host: -40 dBm.
    case immediate
    /// Elsewhere in the room: -70 dBm.
    case near
    /// At the edge: -100 dBm.
    case far
    /// Not heard at all; links are lost after the supervision timeout.
    case outOfRange

    /// The mean signal strength in dBm; nil if the device is out of range.
    public var rssi: Int? {
        switch self {
        case .immediate: -40
        case .near: -70
        case .far: -100
        case .outOfRange: nil
        }
    }
}
