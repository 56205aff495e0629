/// Joins the parts of L2CAP packets, which controllers exchange in pieces of the size of their buffers.
///
/// At most 64 packets are incomplete at once, of 65,539 bytes each; one more replaces none and is left out.
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

    /// Adds a part.
    ///
    /// - Returns: The channel and the payload of the packet that it completes; nil if there is none.
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
        // What is longer than the packet says is no packet.
        return cursor.count == Int(length) ? (channel, Array(cursor.rest)) : nil
    }

    private mutating func keep(_ bytes: [UInt8], _ key: Key) {
        guard incomplete[key] != nil || incomplete.count < Self.maximumCount else { return }
        incomplete[key] = bytes
    }

    /// Forgets what a connection that has ended left incomplete.
    package mutating func end(host: Int, handle: UInt16) {
        for isReceived in [false, true] {
            incomplete[Key(host: host, handle: handle, isReceived: isReceived)] = nil
        }
    }
}
