#if os(Linux)
import BluetoothBackend

/// The command of the host controller interface that reads a link's signal strength, as bytes.
///
/// Pure. Source: Core Specification, Vol 4, Part E, 7.5.4, 7.7.14 and 7.7.15; Part A, 2, for the packet types.
struct HCIReadRSSI: Sendable {
    enum PacketType {
        static let command: UInt8 = 1
        static let event: UInt8 = 4
    }

    enum Event {
        static let commandComplete: UInt8 = 0x0E
        static let commandStatus: UInt8 = 0x0F
    }

    private enum Status {
        static let success: UInt8 = 0
        static let unknownCommand: UInt8 = 0x01
        static let unknownConnection: UInt8 = 0x02
        static let unsupported: UInt8 = 0x11
    }

    static let operation = "read the signal strength"
    /// Group 5, command 5.
    static let opcode: UInt16 = 5 << 10 | 5

    /// The handle of the link at the controller: 0...0x0EFF.
    let handle: UInt16

    /// The command packet.
    var command: [UInt8] { [PacketType.command] + Self.bytes(Self.opcode) + [2] + Self.bytes(handle) }

    /// Returns the answer in a packet from the controller, in dBm, 127 if unknown; nil if the packet answers another
    /// command.
    func answer(_ packet: [UInt8]) -> Result<Int, BackendError>? {
        guard packet.count >= 3, packet[0] == PacketType.event, packet.count == 3 + Int(packet[2]) else { return nil }
        let body = Array(packet[3...])
        switch packet[1] {
        // The number of accepted commands, the opcode, the status, the handle, the signal strength.
        case Event.commandComplete where body.count >= 4 && Array(body[1...2]) == Self.bytes(Self.opcode):
            guard body[3] == Status.success else { return .failure(Self.error(body[3])) }
            guard body.count == 7, Array(body[4...5]) == Self.bytes(handle) else { return nil }
            return .success(Int(Int8(bitPattern: body[6])))
        // The status comes first; a success is not the answer yet.
        case Event.commandStatus where body.count == 4 && Array(body[2...3]) == Self.bytes(Self.opcode):
            return body[0] == Status.success ? nil : .failure(Self.error(body[0]))
        default: return nil
        }
    }

    private static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }

    private static func error(_ status: UInt8) -> BackendError {
        let text = "the controller answers 0x" + String(status, radix: 16)
        switch status {
        case Status.unknownCommand, Status.unsupported:
            return BackendError(.operationNotSupported, operation: operation, message: text)
        case Status.unknownConnection: return BackendError(.notConnected, operation: operation, message: text)
        default: return BackendError(.unknown, operation: operation, message: text)
        }
    }
}
#endif
