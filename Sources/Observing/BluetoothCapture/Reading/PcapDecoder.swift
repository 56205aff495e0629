import BluetoothHCI

/// Reads pcap with Bluetooth HCI, in either byte order and with micro- or nanoseconds.
///
/// A packet has 16 MiB at most.
struct PcapDecoder: CaptureDecoder {
    private static let maximumPacket: UInt32 = 16_777_216

    private(set) var cursor: ByteCursor
    private let isLittleEndian: Bool
    private let nanosecondsPerUnit: UInt64
    private let hasDirection: Bool
    private var directions = UARTDirections()
    var records = [CaptureRecord.unnamedHost]
    var otherPacketCount = 0

    /// - Returns: nil if the bytes are not a pcap file.
    /// - Throws: ``CaptureMistake`` for pcap with another link type or a malformed header.
    init?(_ bytes: [UInt8]) throws(CaptureMistake) {
        cursor = ByteCursor(bytes)
        switch cursor.littleEndian(UInt32.self) {
        case 0xA1B2_C3D4: (isLittleEndian, nanosecondsPerUnit) = (true, 1_000)
        case 0xA1B2_3C4D: (isLittleEndian, nanosecondsPerUnit) = (true, 1)
        case 0xD4C3_B2A1: (isLittleEndian, nanosecondsPerUnit) = (false, 1_000)
        case 0x4D3C_B2A1: (isLittleEndian, nanosecondsPerUnit) = (false, 1)
        default: return nil
        }
        guard cursor.next(16) != nil,
            let type = isLittleEndian ? cursor.littleEndian(UInt32.self) : cursor.bigEndian(UInt32.self)
        else { throw CaptureMistake(0, "the file is cut off in its header") }
        guard let known = PcapLinkType(rawValue: type) else {
            throw CaptureMistake(20, "the link type is \(type): 187 and 201, of Bluetooth HCI, can be read")
        }
        hasDirection = known == .uartWithDirection
    }

    mutating func read() throws(CaptureMistake) {
        let start = cursor.offset
        guard let seconds = integer(), let fraction = integer(), let length = integer(), integer() != nil else {
            throw CaptureMistake(start, "the file is cut off in this packet")
        }
        guard length <= Self.maximumPacket else {
            throw CaptureMistake(start + 8, "a packet has \(Self.maximumPacket) bytes or fewer")
        }
        guard let data = cursor.next(Int(length)) else {
            throw CaptureMistake(start, "the file is cut off in this packet")
        }
        var content = ByteCursor(data)
        let direction = hasDirection ? content.bigEndian(UInt32.self) : nil
        let time = UInt64(seconds) * 1_000_000_000 + UInt64(fraction) * nanosecondsPerUnit
        let packet = CapturedPacket(uart: content.rest, host: 0, time: time) { kind, body in
            direction.map { $0 & 1 == 1 } ?? directions.isReceived(kind, body, host: 0)
        }
        add(packet)
    }

    private mutating func integer() -> UInt32? { isLittleEndian ? cursor.littleEndian() : cursor.bigEndian() }
}

/// The link types of pcap and pcapng that contain Bluetooth HCI.
///
/// Source: the tcpdump group's list, LINKTYPE_BLUETOOTH_HCI_H4 and LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR.
enum PcapLinkType: UInt32 {
    case uart = 187
    case uartWithDirection = 201
}
