import BluetoothHCI

/// The UART transport: a byte for the type precedes each packet.
///
/// Source: Core Specification, Vol 4, Part A, 2.
struct H4Framing: PacketFraming {
    private var buffer: [UInt8] = []

    /// Returns the packets that the bytes complete; synchronous and isochronous data are dropped.
    mutating func receive(_ bytes: ArraySlice<UInt8>) -> ReceivedPackets {
        buffer += bytes
        var (received, start) = (ReceivedPackets(), 0)
        while start < buffer.count {
            guard let length = length(at: start) else {
                received.failure = "it sent a packet of type \(buffer[start]), which is none of H4"
                break
            }
            guard start + length <= buffer.count else { break }
            if let kind = HCIPacket.Kind(rawValue: buffer[start]) {
                let body = Array(buffer[start + 1..<start + length])
                received.packets.append(HCIPacket(kind: kind, isReceived: false, body: body))
            }
            start += length
        }
        buffer.removeFirst(start)
        return received
    }

    func send(_ packet: HCIPacket) -> [UInt8] { [packet.kind.rawValue] + packet.body }

    /// Returns the length of the packet that begins at an index, that of its header while this is incomplete; nil if a
    /// host sends no packets of its type.
    private func length(at start: Int) -> Int? {
        let header = buffer[start...].prefix(5)
        let size: Int? =
            switch header[start] {
            case 1, 3: 4
            case 2, 5: 5
            default: nil
            }
        guard let size, header.count >= size else { return size }
        return switch header[start] {
        case 1, 3: size + Int(header[start + 3])
        case 2: size + Int(header[start + 3]) + Int(header[start + 4]) << 8
        // The two highest bits of an isochronous packet's length are reserved.
        default: size + Int(header[start + 3]) + Int(header[start + 4] & 0x3F) << 8
        }
    }
}
