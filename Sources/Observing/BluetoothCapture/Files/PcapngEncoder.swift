import BluetoothHCI

/// Writes pcapng, with an interface for each host of the link type "Bluetooth HCI UART transport layer plus
/// pseudo-header".
///
/// Source: IETF draft-ietf-opsawg-pcapng; LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR (201) of the tcpdump group.
package struct PcapngEncoder: CaptureEncoder {
    private static let linkType: UInt16 = 201

    private enum Block: UInt32 {
        case section = 0x0A0D_0D0A
        case interface = 1
        case interfaceStatistics = 5
        case packet = 6
    }

    private let comment: String
    private var hostCount = 0
    private var notes: [String] = []
    /// The number of notes that were dropped because no packet followed in time.
    private var omittedNotes = 0
    /// The number of notes that fit in one comment.
    private static let noteLimit = 50

    package init(comment: String) { self.comment = comment }

    package var header: [UInt8] {
        var body: [UInt8] = []
        body.append(littleEndian: UInt32(0x1A2B_3C4D))
        body.append(littleEndian: UInt16(1))
        body.append(littleEndian: UInt16(0))
        body.append(littleEndian: Int64(-1))
        Self.append(option: 1, Array(comment.utf8), to: &body)
        Self.append(option: 4, Array("swift-corebluetooth".utf8), to: &body)
        return Self.block(.section, body + Self.endOfOptions)
    }

    package mutating func encode(_ record: CaptureRecord) -> [UInt8] {
        switch record {
        case .host(let host):
            hostCount += 1
            return encode(host)
        case .packet(let packet): return encode(packet)
        case .note(let text, _):
            if notes.count < Self.noteLimit { notes.append(text) } else { omittedNotes += 1 }
            return []
        }
    }

    /// Returns the notes that no packet follows, as comments in the statistics of the first interface.
    package mutating func end(at time: CaptureTime) -> [UInt8] {
        guard !notes.isEmpty, hostCount > 0 else { return [] }
        var body: [UInt8] = []
        body.append(littleEndian: UInt32(0))
        Self.append(time, to: &body)
        Self.append(option: 1, Array(comments(with: nil).utf8), to: &body)
        return Self.block(.interfaceStatistics, body + Self.endOfOptions)
    }

    private func encode(_ host: CapturedHost) -> [UInt8] {
        var body: [UInt8] = []
        body.append(littleEndian: Self.linkType)
        body.append(littleEndian: UInt16(0))
        body.append(littleEndian: UInt32(0))
        Self.append(option: 2, Array(host.name.utf8), to: &body)
        Self.append(option: 3, Array(host.address.text.utf8), to: &body)
        // The resolution of times: nanoseconds.
        Self.append(option: 9, [9], to: &body)
        return Self.block(.interface, body + Self.endOfOptions)
    }

    private mutating func encode(_ packet: CapturedPacket) -> [UInt8] {
        var data: [UInt8] = []
        data.append(bigEndian: UInt32(packet.packet.isReceived ? 1 : 0))
        data.append(packet.packet.kind.rawValue)
        data += packet.packet.body
        var body: [UInt8] = []
        body.reserveCapacity(data.count + 40)
        body.append(littleEndian: UInt32(packet.host))
        Self.append(packet.time, to: &body)
        body.append(littleEndian: UInt32(data.count))
        body.append(littleEndian: UInt32(data.count))
        body += data
        body.pad()
        let comment = comments(with: packet.comment)
        if !comment.isEmpty { Self.append(option: 1, Array(comment.utf8), to: &body) }
        var flags: [UInt8] = []
        flags.append(littleEndian: UInt32(packet.packet.isReceived ? 1 : 2))
        Self.append(option: 2, flags, to: &body)
        return Self.block(.packet, body + Self.endOfOptions)
    }

    /// Removes and returns the pending notes and a comment, one line each.
    private mutating func comments(with comment: String?) -> String {
        if notes.isEmpty { return comment ?? "" }
        defer { (notes, omittedNotes) = ([], 0) }
        let rest = omittedNotes > 0 ? ["\(omittedNotes) more notes"] : []
        return (notes + rest + [comment].compactMap(\.self)).joined(separator: "\n")
    }

    // MARK: Blocks

    private static let endOfOptions: [UInt8] = [0, 0, 0, 0]

    private static func append(_ time: CaptureTime, to body: inout [UInt8]) {
        body.append(littleEndian: UInt32(truncatingIfNeeded: time >> 32))
        body.append(littleEndian: UInt32(truncatingIfNeeded: time))
    }

    /// Appends an option, which has 65,535 bytes at most; longer texts are truncated.
    private static func append(option code: UInt16, _ value: [UInt8], to body: inout [UInt8]) {
        let value = value.prefix(60_000)
        body.append(littleEndian: code)
        body.append(littleEndian: UInt16(value.count))
        body += value
        body.pad()
    }

    private static func block(_ type: Block, _ body: [UInt8]) -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(body.count + 12)
        let length = UInt32(body.count + 12)
        block.append(littleEndian: type.rawValue)
        block.append(littleEndian: length)
        block += body
        block.append(littleEndian: length)
        return block
    }
}

extension [UInt8] {
    /// Pads to a multiple of four bytes.
    fileprivate mutating func pad() { append(contentsOf: repeatElement(0, count: -count & 3)) }
}
