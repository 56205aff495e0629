import BluetoothHCI

/// Reads capture files of Bluetooth hosts: pcapng and pcap of link types 201 and 187, btsnoop of 1001, 1002 and 2001, and
/// those of Apple's PacketLogger.
///
/// The contents determine the format, not the name. Source: that of ``PcapngEncoder`` and ``BTSnoopEncoder``.
package struct CaptureReader: Sendable {
    private let file: String
    private var decoder: any CaptureDecoder

    /// - Parameter file: The name of the file, for errors.
    /// - Throws: ``CaptureReadError`` if the format is not one of these.
    package init(_ bytes: [UInt8], file: String) throws(CaptureReadError) {
        self.file = file
        do throws(CaptureMistake) {
            decoder = try Self.decoder(of: bytes)
        } catch {
            throw CaptureReadError(file: file, offset: error.offset, rule: error.rule)
        }
    }

    /// The number of packets so far that do not belong to Bluetooth Low Energy, which are skipped.
    package var otherPacketCount: Int { decoder.otherPacketCount }

    private static func decoder(of bytes: [UInt8]) throws(CaptureMistake) -> any CaptureDecoder {
        if bytes.starts(with: "btsnoop\0".utf8) { return try BTSnoopDecoder(bytes) }
        if bytes.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) { return PcapngDecoder(bytes) }
        if let pcap = try PcapDecoder(bytes) { return pcap }
        if let log = PacketLoggerDecoder(bytes) { return log }
        throw CaptureMistake(0, "a capture is a file of the formats pcapng, pcap, btsnoop or pklg")
    }

    /// Returns the next record; nil at the end.
    ///
    /// - Throws: ``CaptureReadError`` for a malformed or truncated part. Earlier records are valid, and no later ones
    ///   can be read.
    package mutating func next() throws(CaptureReadError) -> CaptureRecord? {
        do throws(CaptureMistake) {
            return try decoder.next()
        } catch {
            throw CaptureReadError(file: file, offset: error.offset, rule: error.rule)
        }
    }
}

/// A decoder of one format, which returns one record at a time.
protocol CaptureDecoder: Sendable {
    /// The bytes that are not read yet.
    var cursor: ByteCursor { get }
    /// The records that were read and are not returned yet.
    var records: [CaptureRecord] { get set }
    /// The number of packets so far that do not belong to Bluetooth Low Energy, which are skipped.
    var otherPacketCount: Int { get set }
    /// Reads the next block or record of the file.
    mutating func read() throws(CaptureMistake)
}

extension CaptureDecoder {
    /// Returns the next record; nil at the end.
    mutating func next() throws(CaptureMistake) -> CaptureRecord? {
        while records.isEmpty {
            guard !cursor.isAtEnd else { return nil }
            try read()
        }
        return records.removeFirst()
    }

    /// Adds a packet, or counts one that does not belong to Bluetooth Low Energy: nil.
    mutating func add(_ packet: CapturedPacket?) {
        if let packet { records.append(.packet(packet)) } else { otherPacketCount += 1 }
    }
}

extension CaptureRecord {
    /// The host of a file that does not describe it.
    static let unnamedHost = host(CapturedHost(name: "host", address: HCIAddress(bits: 0, isRandom: false)))
}

/// A rule that a byte of a capture violates.
struct CaptureMistake: Error, Hashable, Sendable {
    let offset: Int
    let rule: String

    init(_ offset: Int, _ rule: String) { (self.offset, self.rule) = (offset, rule) }
}

/// An error in a capture that cannot be read, or not to its end.
package struct CaptureReadError: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: String
    /// The offset of the byte, from 0.
    package let offset: Int
    package let rule: String

    /// `air.pcapng: byte 1234: a block has 12 bytes or more`.
    package var description: String { "\(file): byte \(offset): \(rule)" }
}

extension CapturedPacket {
    /// Creates a packet of UART (H4) transport from its type and the rest; nil for a type outside of Low Energy.
    ///
    /// - Parameter direction: Decides whether the packet is received.
    init?(
        uart bytes: ArraySlice<UInt8>, host: Int, time: CaptureTime, comment: String? = nil,
        _ direction: (HCIPacket.Kind, _ body: [UInt8]) -> Bool
    ) {
        guard let type = bytes.first, let kind = HCIPacket.Kind(rawValue: type) else { return nil }
        let body = Array(bytes.dropFirst())
        let packet = HCIPacket(kind: kind, isReceived: direction(kind, body), body: body)
        self.init(host: host, time: time, packet: packet, comment: comment)
    }
}

/// The directions of packets in a file that does not contain them.
///
/// The first fragment of an L2CAP packet has a different boundary flag in each direction. A later fragment gets the
/// direction of the connection's last first fragment, which is a guess if both directions send fragments at the same
/// time.
struct UARTDirections: Sendable {
    private struct Key: Hashable, Sendable {
        var host: Int
        var handle: UInt16
    }

    private static let maximumCount = 4_096

    private var received: [Key: Bool] = [:]

    mutating func isReceived(_ kind: HCIPacket.Kind, _ body: [UInt8], host: Int) -> Bool {
        switch kind {
        case .command: return false
        case .event: return true
        case .acl:
            guard body.count > 1 else { return false }
            let key = Key(host: host, handle: UInt16(body[0]) | UInt16(body[1] & 0x0F) << 8)
            let boundary = body[1] & 0x30
            if boundary == 0x10 { return received[key] ?? false }
            if received.count == Self.maximumCount, received[key] == nil { received = [:] }
            received[key] = boundary == 0x20
            return boundary == 0x20
        }
    }
}
