import BluetoothHCI

/// The answer of an emulated device or app to a packet on the signaling channel.
///
/// Source: Core Specification, Vol 3, Part A, 4.
struct SignalingReply: Sendable, Hashable {
    let bytes: [UInt8]
    /// The parameters that a peripheral requests, which the reply accepts.
    private(set) var parameters: HCIConnectionParameters?

    /// - Parameter isCentral: Whether the sender of the packet is the central.
    /// - Returns: nil for a response, and for a packet that is too short.
    init?(_ packet: [UInt8], isCentral: Bool) {
        var cursor = ByteCursor(packet)
        guard let code = cursor.byte(), let identifier = cursor.byte(), let length = cursor.littleEndian(UInt16.self),
            let content = cursor.next(Int(length))
        else { return nil }
        switch code {
        case 0x12 where !isCentral:
            var fields = ByteCursor(content)
            guard let minimum = fields.littleEndian(UInt16.self), let maximum = fields.littleEndian(UInt16.self),
                let latency = fields.littleEndian(UInt16.self), let timeout = fields.littleEndian(UInt16.self)
            else { return nil }
            let isValid =
                (6...3200).contains(minimum) && (minimum...3200).contains(maximum) && latency < 500
                && (10...3200).contains(timeout)
            if isValid {
                parameters = HCIConnectionParameters(
                    interval: .microseconds(1_250) * Int(maximum), latency: Int(latency),
                    supervisionTimeout: .milliseconds(10) * Int(timeout))
            }
            bytes = [0x13, identifier, 2, 0, isValid ? 0 : 1, 0]
        // Responses, and a credit for a channel that does not exist.
        case 0x01, 0x03, 0x05, 0x07, 0x13, 0x15, 0x16, 0x18, 0x1A: return nil
        // No channel listens: the PSM is not supported.
        case 0x14: bytes = [0x15, identifier, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]
        // The command is not understood.
        default: bytes = [0x01, identifier, 2, 0, 0, 0]
        }
    }
}
