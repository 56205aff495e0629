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

extension CaptureRecord {
    /// A packet of UART (H4) transport: its type, and the rest; nil for a type that is none of Low Energy.
    static func packet(_ bytes: ArraySlice<UInt8>, isReceived: Bool?, host: Int, time: CaptureTime) -> CaptureRecord? {
        guard let type = bytes.first, let kind = HCIPacket.Kind(rawValue: type) else { return nil }
        let body = Array(bytes.dropFirst())
        let packet = HCIPacket(kind: kind, isReceived: isReceived ?? kind.isReceived(body), body: body)
        return .packet(CapturedPacket(host: host, time: time, packet: packet))
    }
}

extension HCIPacket.Kind {
    /// The direction where the file does not say it: data that the controller sends has its packet boundary flag "first".
    fileprivate func isReceived(_ body: [UInt8]) -> Bool {
        switch self {
        case .command: false
        case .event: true
        case .acl: body.count > 1 && body[1] & 0x30 == 0x20
        }
    }
}
