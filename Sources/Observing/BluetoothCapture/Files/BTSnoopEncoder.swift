import BluetoothHCI

/// Writes btsnoop with the link type "Linux monitor", as btmon does, with an adapter for each host.
///
/// Source: BlueZ, doc/btsnoop.txt.
package struct BTSnoopEncoder: CaptureEncoder {
    private static let linkType: UInt32 = 2001
    /// The time from year 0 to 1970, in microseconds.
    static let epoch: UInt64 = 0x00DC_DDB3_0F2F_8000

    fileprivate enum Opcode: UInt16 {
        case newIndex = 0
        case command = 2
        case event = 3
        case aclSent = 4
        case aclReceived = 5
        case openIndex = 8
        case indexInfo = 10
        case userLogging = 13
    }

    private var hostCount: UInt16 = 0
    /// New adapters, which are written with the next record, because they have no time.
    private var newHosts: [CapturedHost] = []

    package init() {}

    package var header: [UInt8] {
        var bytes = Array("btsnoop\0".utf8)
        bytes.append(bigEndian: UInt32(1))
        bytes.append(bigEndian: Self.linkType)
        return bytes
    }

    package mutating func encode(_ record: CaptureRecord) -> [UInt8] {
        switch record {
        case .host(let host):
            newHosts.append(host)
            return []
        case .packet(let packet):
            var bytes = announceHosts(at: packet.time)
            if let comment = packet.comment { bytes += Self.logging(comment, at: packet.time) }
            let adapter = UInt16(truncatingIfNeeded: packet.host)
            return bytes + Self.record(packet.packet.opcode, adapter, packet.packet.body, at: packet.time)
        case .note(let text, let time): return announceHosts(at: time) + Self.logging(text, at: time)
        }
    }

    package mutating func end(at time: CaptureTime) -> [UInt8] { announceHosts(at: time) }

    private mutating func announceHosts(at time: CaptureTime) -> [UInt8] {
        exchange(&newHosts, with: []).flatMap { host -> [UInt8] in
            defer { hostCount += 1 }
            let name = Array("hci\(hostCount)".utf8.prefix(8))
            let padding = [UInt8](repeating: 0, count: 8 - name.count)
            // A primary controller on a virtual bus, without a manufacturer.
            let newIndex: [UInt8] = [0, 0] + host.address.bytes + name + padding
            return Self.record(.newIndex, hostCount, newIndex, at: time)
                + Self.record(.openIndex, hostCount, [], at: time)
                + Self.record(.indexInfo, hostCount, host.address.bytes + [0xFF, 0xFF], at: time)
        }
    }

    /// Returns a line of the log, informational, by this package.
    private static func logging(_ text: String, at time: CaptureTime) -> [UInt8] {
        let identifier = Array("corebluetooth\0".utf8)
        let text = Array(text.utf8.prefix(1_000)) + [0]
        return record(.userLogging, 0xFFFF, [6, UInt8(identifier.count)] + identifier + text, at: time)
    }

    private static func record(_ opcode: Opcode, _ adapter: UInt16, _ data: [UInt8], at time: CaptureTime) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 24)
        bytes.append(bigEndian: UInt32(data.count))
        bytes.append(bigEndian: UInt32(data.count))
        bytes.append(bigEndian: UInt32(adapter) << 16 | UInt32(opcode.rawValue))
        bytes.append(bigEndian: UInt32(0))
        bytes.append(bigEndian: time / 1_000 + epoch)
        return bytes + data
    }
}

extension HCIPacket {
    fileprivate var opcode: BTSnoopEncoder.Opcode {
        switch kind {
        case .command: .command
        case .event: .event
        case .acl: isReceived ? .aclReceived : .aclSent
        }
    }
}
