#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// An advertisement as its client exports it.
///
/// Pure. Empty fields mean the same as absent ones.
///
/// Source: BlueZ, `src/advertising.c`, `doc/org.bluez.LEAdvertisement.rst`.
struct AdvertisementProperties: Sendable {
    private(set) var advertisement = Advertisement()
    private(set) var timeout: Duration?

    /// - Parameter alias: The name of the adapter, which an advertisement may include.
    /// - Throws: `Failed` for what `bluetoothd` cannot parse.
    init(_ properties: [String: DBusValue], alias: String) throws(DBusError) {
        let type = properties["Type"]?.stringValue
        guard type == "peripheral" || type == "broadcast" else { throw Self.unreadable }
        advertisement.isConnectable = type == "peripheral"
        for (name, value) in properties { try read(name, value) }
        let includes = properties["Includes"]?.stringsValue ?? []
        if includes.contains("local-name"), advertisement.localName == nil { advertisement.localName = alias }
        if includes.contains("tx-power"), advertisement.txPowerLevel == nil { advertisement.txPowerLevel = 0 }
    }

    private static let unreadable = BlueZError.failed("Failed to parse advertisement.")

    private mutating func read(_ name: String, _ value: DBusValue) throws(DBusError) {
        switch (name, value) {
        case ("ServiceUUIDs", .array(.string, let texts)): advertisement.serviceUUIDs = try Self.uuids(texts)
        case ("SolicitUUIDs", .array(.string, let texts)): advertisement.solicitedServiceUUIDs = try Self.uuids(texts)
        case ("LocalName", .string(let localName)): advertisement.localName = localName
        case ("TxPower", .int16(let power)): advertisement.txPowerLevel = Int8(clamping: power)
        case ("Timeout", .uint16(let seconds)) where seconds > 0: timeout = .seconds(Int64(seconds))
        case ("ManufacturerData", .dictionary(let entries)):
            for entry in entries.entries {
                guard case .uint16(let company) = entry.key, let bytes = Self.bytes(entry.value) else {
                    throw Self.unreadable
                }
                advertisement.manufacturerData =
                    Data([UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)] + bytes)
            }
        case ("ServiceData", .dictionary(let entries)):
            for entry in entries.entries {
                guard let uuid = entry.key.stringValue.flatMap({ BluetoothUUID($0) }),
                    let bytes = Self.bytes(entry.value)
                else { throw Self.unreadable }
                advertisement.serviceData = (advertisement.serviceData ?? [:]).merging([uuid: Data(bytes)]) { $1 }
            }
        case ("ServiceUUIDs", _), ("SolicitUUIDs", _), ("LocalName", _), ("ManufacturerData", _), ("ServiceData", _):
            throw Self.unreadable
        default: break
        }
    }

    private static func uuids(_ texts: [DBusValue]) throws(DBusError) -> [BluetoothUUID]? {
        var uuids: [BluetoothUUID] = []
        for text in texts {
            guard let uuid = text.stringValue.flatMap({ BluetoothUUID($0) }) else { throw unreadable }
            uuids.append(uuid.bits16.map { BluetoothUUID($0) } ?? uuid)
        }
        return uuids.isEmpty ? nil : uuids
    }

    private static func bytes(_ value: DBusValue) -> [UInt8]? {
        if case .variant(let content) = value { return content.bytesValue }
        return value.bytesValue
    }
}
#endif
