/// What the local server allows with a value.
///
/// Source: Apple, CBAttributePermissions.
public struct CBAttributePermissions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes a set of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Centrals may read.
    public static let readable = Self(rawValue: 0x01)
    /// Centrals may write.
    public static let writeable = Self(rawValue: 0x02)
    /// Trusted centrals may read.
    public static let readEncryptionRequired = Self(rawValue: 0x04)
    /// Trusted centrals may write.
    public static let writeEncryptionRequired = Self(rawValue: 0x08)
}
