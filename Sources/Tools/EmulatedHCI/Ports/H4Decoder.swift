import BluetoothHCI

/// Divides the bytes of a host's UART transport into packets.
///
/// Source: Core Specification, Vol 4, Part A, 2.
struct H4Decoder: Sendable {
    /// The stream contains a packet type that no host sends, so that the boundaries of packets are lost.
    struct UnknownType: Error, Hashable {
        let type: UInt8
    }

    private var buffer: [UInt8] = []

    /// Adds received bytes.
    ///
    /// - Returns: The packets that they complete; synchronous and isochronous data are dropped.
    mutating func add(_ bytes: some Collection<UInt8>) throws(UnknownType) -> [HCIPacket] {
        buffer += bytes
        var (packets, start) = ([HCIPacket](), 0)
        defer { buffer.removeFirst(start) }
        while start < buffer.count {
            guard let length = try length(at: start), start + length <= buffer.count else { break }
            if let kind = HCIPacket.Kind(rawValue: buffer[start]) {
                packets.append(
                    HCIPacket(kind: kind, isReceived: false, body: Array(buffer[start + 1..<start + length])))
            }
            start += length
        }
        return packets
    }

    /// Returns the length of the packet that begins at an index; nil if its header is incomplete.
    private func length(at start: Int) throws(UnknownType) -> Int? {
        let header = buffer[start...]
        switch header[start] {
        case 1, 3: return header.count < 4 ? nil : 4 + Int(header[start + 3])
        case 2: return header.count < 5 ? nil : 5 + Int(header[start + 3]) + Int(header[start + 4]) << 8
        // The two highest bits of an isochronous packet's length are reserved.
        case 5: return header.count < 5 ? nil : 5 + Int(header[start + 3]) + Int(header[start + 4] & 0x3F) << 8
        default: throw UnknownType(type: header[start])
        }
    }
}
