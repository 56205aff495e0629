import BluetoothHCI

/// Reads the files of Apple's PacketLogger (`.pklg`), in either byte order.
///
/// A record has 1 MiB at most. Source: Wireshark's description of the format, which has no signature and does not
/// contain the address of the host.
struct PacketLoggerDecoder: CaptureDecoder {
    private struct Header {
        /// The length of the rest of the record.
        var length: UInt32
        var seconds: UInt32
        var microseconds: UInt32
        var type: UInt8

        static let lengthInRecord: UInt32 = 9

        init?(_ cursor: inout ByteCursor, isLittleEndian: Bool) {
            func integer() -> UInt32? { isLittleEndian ? cursor.littleEndian() : cursor.bigEndian() }
            guard let length = integer(), let seconds = integer(), let microseconds = integer(),
                let type = cursor.byte()
            else { return nil }
            (self.length, self.seconds, self.microseconds, self.type) = (length, seconds, microseconds, type)
        }

        var hasValidLength: Bool { (Self.lengthInRecord...PacketLoggerDecoder.maximumRecord).contains(length) }
        var isPlausible: Bool {
            hasValidLength && microseconds < 1_000_000 && (type <= 0x0D || PacketLoggerDecoder.texts.contains(type))
        }
    }

    private static let maximumRecord: UInt32 = 1_048_576
    /// The types of records that contain a text: messages of the system, of the kernel, of the person who recorded.
    private static let texts: ClosedRange<UInt8> = 0xF7...0xFE

    private(set) var cursor: ByteCursor
    private let isLittleEndian: Bool
    var records = [CaptureRecord.unnamedHost]
    var otherPacketCount = 0

    /// - Returns: nil if the first record is not one of PacketLogger in either byte order.
    init?(_ bytes: [UInt8]) {
        cursor = ByteCursor(bytes)
        func isPlausible(isLittleEndian: Bool) -> Bool {
            var cursor = ByteCursor(bytes)
            return Header(&cursor, isLittleEndian: isLittleEndian)?.isPlausible ?? false
        }
        guard let order = [false, true].first(where: isPlausible) else { return nil }
        isLittleEndian = order
    }

    mutating func read() throws(CaptureMistake) {
        let start = cursor.offset
        guard let header = Header(&cursor, isLittleEndian: isLittleEndian) else {
            throw CaptureMistake(start, "the file is cut off in this record")
        }
        guard header.hasValidLength else {
            throw CaptureMistake(start, "a record has \(Header.lengthInRecord) to \(Self.maximumRecord) bytes")
        }
        guard let data = cursor.next(Int(header.length - Header.lengthInRecord)) else {
            throw CaptureMistake(start, "the file is cut off in this record")
        }
        let time = UInt64(header.seconds) * 1_000_000_000 + UInt64(header.microseconds) * 1_000
        let kind: HCIPacket.Kind
        switch header.type {
        case 0x00: kind = .command
        case 0x01: kind = .event
        case 0x02, 0x03: kind = .acl
        case Self.texts:
            return records.append(.note(String(decoding: data.prefix { $0 != 0 }, as: UTF8.self), at: time))
        default: return add(nil)
        }
        let isReceived = header.type == 0x01 || header.type == 0x03
        let packet = HCIPacket(kind: kind, isReceived: isReceived, body: Array(data))
        add(CapturedPacket(host: 0, time: time, packet: packet))
    }
}
