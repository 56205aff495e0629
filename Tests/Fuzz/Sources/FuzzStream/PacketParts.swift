@testable import BluetoothCapture
@testable import BluetoothHCI

/// Parts of L2CAP packets on a few connections, in any order, of any length.
///
/// A packet consists of the parts since its first one and has its announced length, and its content is a packet of the
/// Attribute Protocol that is written as it was read, or no packet.
struct PacketParts {
    private var assembler = L2CAPAssembler()
    private var parts: [UInt16: [UInt8]] = [:]

    mutating func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        checkProtocols(Array(bytes))
        var rest = bytes[...]
        while let kind = rest.popFirst(), let length = rest.popFirst() {
            let handle = UInt16(kind % 3)
            if kind > 250 {
                assembler.end(host: 0, handle: handle)
                parts[handle] = nil
                continue
            }
            let part = Array(rest.prefix(Int(length)))
            rest = rest.dropFirst(part.count)
            add(part, isFirst: kind < 120, handle)
        }
    }

    private mutating func add(_ part: [UInt8], isFirst: Bool, _ handle: UInt16) {
        parts[handle] = isFirst ? part : parts[handle].map { $0 + part }
        let packet = assembler.add(part, isFirst: isFirst, host: 0, handle: handle, isReceived: true)
        guard let packet else { return checkIncomplete(handle) }
        let whole = parts.removeValue(forKey: handle) ?? []
        precondition(whole.count == packet.payload.count + 4 && Array(whole.dropFirst(4)) == packet.payload)
        precondition(Int(whole[0]) | Int(whole[1]) << 8 == packet.payload.count)
        precondition(UInt16(whole[2]) | UInt16(whole[3]) << 8 == packet.channel)
        checkProtocols(packet.payload)
    }

    private mutating func checkIncomplete(_ handle: UInt16) {
        guard let begun = parts[handle], begun.count >= 4 else { return }
        let length = Int(begun[0]) | Int(begun[1]) << 8
        precondition(begun.count - 4 != length, "a whole packet was left out")
        // A packet longer than announced is dropped.
        if begun.count - 4 > length { parts[handle] = nil }
    }

    private func checkProtocols(_ payload: [UInt8]) {
        if let pdu = ATTPDU(payload) { precondition(ATTPDU(pdu.bytes) == pdu, "\(pdu)") }
        if let pdu = SecurityManagerPDU(payload) { precondition(SecurityManagerPDU(pdu.bytes) == pdu, "\(pdu)") }
    }
}
