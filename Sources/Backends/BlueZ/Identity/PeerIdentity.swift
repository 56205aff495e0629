#if os(Linux)
package import FoundationEssentials

/// The identifier of a remote device, the same in every process.
package enum PeerIdentity {
    /// - Parameters:
    ///   - adapter: The address of the adapter that knows the device.
    ///   - address: The device's identity address.
    ///   - isRandom: Whether this address is random.
    package static func identifier(adapter: String, address: String, isRandom: Bool) -> UUID {
        UUID.version5(of: "\(adapter)/\(address)/\(isRandom ? "random" : "public")", in: namespace)
    }

    /// The namespace of this package's peer identifiers; its value has no meaning, and must never change.
    private static let namespace = UUID(
        uuid: (0x3B, 0x7C, 0x61, 0x0E, 0x92, 0x4D, 0x4A, 0x5F, 0x8E, 0x21, 0x5D, 0x0C, 0x7A, 0x96, 0xB4, 0xE3))
}

extension UUID {
    /// Returns a name-based UUID.
    ///
    /// Source: RFC 9562, 5.5.
    static func version5(of name: String, in namespace: UUID) -> UUID {
        var digest = SHA1.digest(of: withUnsafeBytes(of: namespace.uuid) { Array($0) } + Array(name.utf8))
        digest[6] = digest[6] & 0x0F | 0x50
        digest[8] = digest[8] & 0x3F | 0x80
        var bytes = namespace.uuid
        withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: digest[..<16]) }
        return UUID(uuid: bytes)
    }
}
#endif
