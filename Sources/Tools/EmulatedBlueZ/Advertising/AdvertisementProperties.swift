#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// An advertisement as its client exports it, with the types and the ranges of its properties checked.
///
/// Pure. Empty arrays mean the same as absent ones.
///
/// Source: BlueZ, `src/advertising.c`, `parse_advertisement`; `src/shared/ad.c`; `doc/org.bluez.LEAdvertisement.rst`.
struct AdvertisementProperties: Sendable {
    enum Kind: String, Sendable {
        case broadcast
        case peripheral
    }

    /// The type, a broadcast by default.
    private(set) var kind = Kind.broadcast
    private(set) var services: [BluetoothUUID] = []
    private(set) var solicitedServices: [BluetoothUUID] = []
    private(set) var serviceData: [BluetoothUUID: Data] = [:]
    /// The data of each company, after its company identifier, least significant byte first.
    private(set) var manufacturerData: [Data] = []
    /// The structures that the client gives by their type number.
    private(set) var structures: [AdvertisingStructure] = []
    /// The names of the adapter's fields that the advertisement includes.
    private(set) var includes: Set<String> = []
    private(set) var localName: String?
    private(set) var appearance: UInt16?
    private(set) var isDiscoverable: Bool?
    private(set) var hasSecondaryChannel = false
    private(set) var txPower: Int8?
    private(set) var timeout: Duration?
    private(set) var discoverableTimeout: Duration?
    /// The interval in milliseconds; 0 if the client leaves it to the system.
    private var (minimumInterval, maximumInterval): (UInt32, UInt32) = (0, 0)

    /// - Throws: `Failed` for properties that `bluetoothd` cannot parse.
    init(_ properties: [String: DBusValue], _ dialect: BlueZDialect) throws(DBusError) {
        for (name, value) in properties where !Self.isEmpty(value) && !Self.isIgnored(name, dialect) {
            try read(name, value)
        }
        try require(!includes.contains("local-name") || properties["LocalName"] == nil)
        try require(!includes.contains("appearance") || appearance == nil)
        try require(kind == .peripheral || isDiscoverable != true)
        try require(minimumInterval <= maximumInterval)
        // The controllers of this dialect list no secondary channels.
        try require(!hasSecondaryChannel || dialect >= .bluez5_82)
        if isDiscoverable != true { discoverableTimeout = nil }
        try require((timeout ?? .seconds(Int64.max)) >= (discoverableTimeout ?? .zero))
    }

    /// The error for properties that cannot be parsed.
    static let unreadable = BlueZError.failed("Failed to parse advertisement.")

    private func require(_ condition: Bool) throws(DBusError) {
        guard condition else { throw Self.unreadable }
    }

    private static func isEmpty(_ value: DBusValue) -> Bool {
        switch value {
        case .array(_, let elements): elements.isEmpty
        case .bytes(let bytes): bytes.isEmpty
        case .dictionary(let dictionary): dictionary.entries.isEmpty
        default: false
        }
    }

    /// Whether `bluetoothd` ignores a property; before 5.77 it reads some only with `--experimental`.
    private static func isIgnored(_ name: String, _ dialect: BlueZDialect) -> Bool {
        dialect < .bluez5_82 && ["MinInterval", "MaxInterval", "TxPower"].contains(name)
    }

    // MARK: Properties

    private static let known: Set = [
        "Type", "Includes", "LocalName", "Appearance", "Duration", "Timeout", "Discoverable", "DiscoverableTimeout",
        "SecondaryChannel", "MinInterval", "MaxInterval", "TxPower",
    ]
    /// 0x20...0xFFFFFF units of 0.625 ms, in milliseconds.
    ///
    /// Source: Core Specification, Vol 4, Part E, 7.8.53.
    private static let intervals: ClosedRange<UInt32> = 20...10_485_759

    private mutating func read(_ name: String, _ value: DBusValue) throws(DBusError) {
        switch (name, value) {
        case ("Type", .string(let text)):
            guard let kind = Kind(rawValue: text) else { throw Self.unreadable }
            self.kind = kind
        case ("Includes", .array(.string, _)): includes = Set(value.stringsValue ?? [])
        case ("LocalName", .string(let name)): localName = name.isEmpty ? nil : name
        case ("Appearance", .uint16(let value)): appearance = value
        case ("Duration", .uint16): break  // each advertisement has its own advertising set, and none takes turns
        case ("Timeout", .uint16(let seconds)): timeout = Self.duration(seconds)
        case ("Discoverable", .boolean(let isOn)): isDiscoverable = isOn
        case ("DiscoverableTimeout", .uint16(let seconds)): discoverableTimeout = Self.duration(seconds)
        case ("SecondaryChannel", .string(let text)) where ["1M", "2M", "Coded"].contains(text):
            hasSecondaryChannel = true
        case ("MinInterval", .uint32(let time)) where Self.intervals.contains(time): minimumInterval = time
        case ("MaxInterval", .uint32(let time)) where Self.intervals.contains(time): maximumInterval = time
        case ("TxPower", .int16(let power)) where (-127...20).contains(power): txPower = Int8(power)
        default:
            try require(!Self.known.contains(name))
            try readContent(name, value)
        }
    }

    private static func duration(_ seconds: UInt16) -> Duration? { seconds > 0 ? .seconds(Int64(seconds)) : nil }

    private mutating func readContent(_ name: String, _ value: DBusValue) throws(DBusError) {
        switch name {
        case "ServiceUUIDs": services = try Self.uuids(value)
        case "SolicitUUIDs": solicitedServices = try Self.uuids(value)
        case "ManufacturerData":
            for (key, bytes) in try Self.entries(value) {
                guard case .uint16(let company) = key, bytes.count <= 27 else { throw Self.unreadable }
                let identifier = [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)]
                manufacturerData.append(Data(identifier + bytes))
            }
        case "ServiceData":
            for (key, bytes) in try Self.entries(value) {
                guard let uuid = key.stringValue.flatMap(Self.uuid), bytes.count <= 29 - Int(uuid.width.rawValue) else {
                    throw Self.unreadable
                }
                serviceData[uuid] = Data(bytes)
            }
        case "Data":
            for (key, bytes) in try Self.entries(value) {
                guard let type = Self.type(key), !Self.reservedTypes.contains(type), bytes.count <= 29 else {
                    throw Self.unreadable
                }
                structures.append(AdvertisingStructure(type: type, data: Data(bytes)))
            }
        default: break
        }
    }

    /// The types that have a property, or that only the system sends.
    ///
    /// Source: BlueZ, `src/shared/ad.c`, `type_reject_list`.
    private static let reservedTypes: Set<UInt8> = Set(0x01...0x0A)
        .union([0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E])
        .union([0x1F, 0x20, 0x21, 0x22, 0x23, 0x27, 0x28, 0x29, 0x2A, 0x2B, 0x3D, 0xFF])

    // MARK: Values

    private static func uuid(_ text: String) -> BluetoothUUID? {
        BluetoothUUID(text).map { uuid in uuid.bits16.map { BluetoothUUID($0) } ?? uuid }
    }

    private static func uuids(_ value: DBusValue) throws(DBusError) -> [BluetoothUUID] {
        guard let texts = value.stringsValue else { throw unreadable }
        let uuids = texts.compactMap(uuid)
        guard uuids.count == texts.count else { throw unreadable }
        return uuids
    }

    /// The type of a structure; `bluetoothd` reads the first byte of the key, whatever its type.
    private static func type(_ key: DBusValue) -> UInt8? {
        switch key {
        case .byte(let type): type
        case .uint16(let number): UInt8(truncatingIfNeeded: number)
        default: nil
        }
    }

    /// The keys of a dictionary with their bytes; empty for an array that is not a dictionary.
    private static func entries(_ value: DBusValue) throws(DBusError) -> [(DBusValue, [UInt8])] {
        guard case .dictionary(let dictionary) = value else {
            if case .bytes = value { return [] }
            throw unreadable
        }
        var entries: [(DBusValue, [UInt8])] = []
        for entry in dictionary.entries {
            guard case .variant(let content) = entry.value, let bytes = content.bytesValue else { throw unreadable }
            entries.append((entry.key, bytes))
        }
        return entries
    }
}
#endif
