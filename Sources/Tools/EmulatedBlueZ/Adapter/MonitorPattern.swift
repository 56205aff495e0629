#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// A pattern of an advertisement monitor: bytes at an offset of one field of the packet.
///
/// Pure. Source: BlueZ, `src/shared/ad.c`, `bt_ad_pattern_new`.
struct MonitorPattern: Equatable, Sendable {
    let offset: Int
    /// The type of the field (Assigned Numbers, "Common Data Types").
    let type: UInt8
    let bytes: [UInt8]

    /// - Returns: nil if the value is not a `(yyay)`, or does not fit in a packet of 31 bytes.
    init?(_ value: DBusValue) {
        guard case .structure(let members) = value, members.count == 3, case .byte(let offset) = members[0],
            case .byte(let type) = members[1], let bytes = members[2].bytesValue, !bytes.isEmpty,
            Int(offset) + bytes.count <= 31, (0x01...0x3D).contains(type) || type == 0xFF
        else { return nil }
        (self.offset, self.type, self.bytes) = (Int(offset), type, bytes)
    }

    /// The patterns in an `a(yyay)`; nil if one is invalid, or if the array is empty.
    static func patterns(_ value: DBusValue?) -> [MonitorPattern]? {
        guard case .array(_, let items)? = value, !items.isEmpty else { return nil }
        let patterns = items.compactMap { MonitorPattern($0) }
        return patterns.count == items.count ? patterns : nil
    }

    func matches(_ advertisement: Advertisement) -> Bool {
        Self.fields(of: type, in: advertisement).contains { field in
            field.count >= offset + bytes.count && Array(field[offset..<offset + bytes.count]) == bytes
        }
    }

    /// The fields of a type as they are on the air; a packet without flags counts as generally discoverable.
    private static func fields(of type: UInt8, in advertisement: Advertisement) -> [[UInt8]] {
        func list(_ uuids: [BluetoothUUID]?, _ width: BluetoothUUID.Width) -> [[UInt8]] {
            let bytes = (uuids ?? []).filter { $0.width == width }.flatMap { $0.bigEndianBytes.reversed() }
            return bytes.isEmpty ? [] : [bytes]
        }
        let others = (advertisement.otherStructures ?? []).filter { $0.type == type }.map { Array($0.data) }
        switch type {
        case 0x01: return others.isEmpty ? [[0x06]] : others
        case 0x02, 0x03: return list(advertisement.serviceUUIDs, .bits16)
        case 0x04, 0x05: return list(advertisement.serviceUUIDs, .bits32)
        case 0x06, 0x07: return list(advertisement.serviceUUIDs, .bits128)
        case 0x08, 0x09: return advertisement.localName.map { [Array($0.utf8)] } ?? []
        case 0x0A: return advertisement.txPowerLevel.map { [[UInt8(bitPattern: $0)]] } ?? []
        case 0x14: return list(advertisement.solicitedServiceUUIDs, .bits16)
        case 0x15: return list(advertisement.solicitedServiceUUIDs, .bits128)
        case 0x16, 0x20, 0x21:
            return (advertisement.serviceData ?? [:]).map { $0.key.bigEndianBytes.reversed() + Array($0.value) }
        case 0xFF: return (advertisement.manufacturerData.map { [Array($0)] } ?? []) + others
        default: return others
        }
    }
}
#endif
