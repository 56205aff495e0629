/// Reads capture files of Bluetooth hosts: pcapng and pcap with the link types 201 and 187, btsnoop with 1001, 1002 and 2001.
///
/// What the file is follows from its contents, not from its name. Source: as those of ``PcapngEncoder`` and ``BTSnoopEncoder``.
package struct CaptureReader: Sendable {
    private let file: String
    private var decoder: any CaptureDecoder

    /// - Parameter file: The name of the file, for errors.
    /// - Throws: ``CaptureReadError`` for what is no such file.
    package init(_ bytes: [UInt8], file: String) throws(CaptureReadError) {
        self.file = file
        do throws(CaptureMistake) {
            decoder = try Self.decoder(of: bytes)
        } catch {
            throw CaptureReadError(file: file, offset: error.offset, rule: error.rule)
        }
    }

    /// The packets so far that are not of Bluetooth Low Energy, which are left out.
    package var otherPacketCount: Int { decoder.otherPacketCount }

    private static func decoder(of bytes: [UInt8]) throws(CaptureMistake) -> any CaptureDecoder {
        if bytes.starts(with: "btsnoop\0".utf8) { return try BTSnoopDecoder(bytes) }
        if bytes.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) { return PcapngDecoder(bytes) }
        if let pcap = try PcapDecoder(bytes) { return pcap }
        throw CaptureMistake(0, "a capture is a file of the formats pcapng, pcap or btsnoop")
    }

    /// The next record; nil at the end.
    ///
    /// - Throws: ``CaptureReadError`` for a malformed or cut-off part. What was read before is sound, and nothing can be read after.
    package mutating func next() throws(CaptureReadError) -> CaptureRecord? {
        do throws(CaptureMistake) {
            return try decoder.next()
        } catch {
            throw CaptureReadError(file: file, offset: error.offset, rule: error.rule)
        }
    }
}

/// The format of a capture, which gives one record after the other.
protocol CaptureDecoder: Sendable {
    /// The packets so far that are not of Bluetooth Low Energy, which are left out.
    var otherPacketCount: Int { get }
    mutating func next() throws(CaptureMistake) -> CaptureRecord?
}

/// A rule that a byte of a capture breaks.
struct CaptureMistake: Error, Hashable, Sendable {
    let offset: Int
    let rule: String

    init(_ offset: Int, _ rule: String) { (self.offset, self.rule) = (offset, rule) }
}

/// A capture that cannot be read, or not to its end.
package struct CaptureReadError: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: String
    /// The number of the byte, from 0.
    package let offset: Int
    package let rule: String

    /// `air.pcapng: byte 1234: a block has 12 bytes or more`.
    package var description: String { "\(file): byte \(offset): \(rule)" }
}

extension CapturedPacket {
    /// A packet of UART (H4) transport: its type, and the rest; nil for a type that is none of Low Energy.
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

/// The directions of packets in a file that does not give them.
///
/// The first part of an L2CAP packet has another boundary flag from the controller than to it; a later part goes where the last
/// first one of its connection went, which is a guess where both directions send in parts at once.
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
