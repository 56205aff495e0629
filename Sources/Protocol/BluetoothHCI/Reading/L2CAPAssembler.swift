/// Joins the fragments of L2CAP packets, which have the size of the controllers' buffers.
///
/// At most 64 packets are incomplete at a time, of 65,539 bytes each; a further one is dropped.
///
/// Source: Core Specification, Vol 3, Part A, 7.2.1.
package struct L2CAPAssembler: Sendable {
    private struct Key: Hashable, Sendable {
        var host: Int
        var handle: UInt16
        var isReceived: Bool
    }

    private static let maximumCount = 64

    private var incomplete: [Key: [UInt8]] = [:]

    package init() {}

    /// Adds a fragment.
    ///
    /// - Returns: The channel and the payload of the packet that it completes; nil if the packet is incomplete.
    package mutating func add(
        _ part: [UInt8], isFirst: Bool, host: Int, handle: UInt16, isReceived: Bool
    ) -> (channel: UInt16, payload: [UInt8])? {
        let key = Key(host: host, handle: handle, isReceived: isReceived)
        var bytes = part
        if !isFirst {
            guard let begun = incomplete[key] else { return nil }
            bytes = begun + part
        }
        var cursor = ByteCursor(bytes)
        guard let length = cursor.littleEndian(UInt16.self), let channel = cursor.littleEndian(UInt16.self) else {
            keep(bytes, key)
            return nil
        }
        guard cursor.count >= Int(length) else {
            keep(bytes, key)
            return nil
        }
        incomplete[key] = nil
        // A packet that is longer than its length field is invalid.
        return cursor.count == Int(length) ? (channel, Array(cursor.rest)) : nil
    }

    private mutating func keep(_ bytes: [UInt8], _ key: Key) {
        guard incomplete[key] != nil || incomplete.count < Self.maximumCount else { return }
        incomplete[key] = bytes
    }

    /// Whether fragments of a packet are missing.
    package func isIncomplete(host: Int, handle: UInt16, isReceived: Bool) -> Bool {
        incomplete[Key(host: host, handle: handle, isReceived: isReceived)] != nil
    }

    /// Drops the incomplete packets of a connection that has ended.
    package mutating func end(host: Int, handle: UInt16) {
        for isReceived in [false, true] {
            incomplete[Key(host: host, handle: handle, isReceived: isReceived)] = nil
        }
    }
}
