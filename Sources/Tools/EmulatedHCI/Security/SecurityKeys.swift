import BluetoothHCI

/// The keys of a pairing, in the order of the air: least significant byte first.
struct SecurityKeys: Hashable, Sendable {
    /// A key with which links are encrypted, and its identification.
    struct LongTermKey: Hashable, Sendable {
        var value: [UInt8]
        /// 0 in LE Secure Connections, as is `diversifier`.
        var random: UInt64
        var diversifier: UInt16
    }

    /// The keys that one end distributed; nil for those that it did not.
    struct Distributed: Hashable, Sendable {
        /// The key of links on which that end is the peripheral; in LE Secure Connections, both ends have the same.
        var longTermKey: LongTermKey?
        /// The identity resolving key.
        var identityKey: [UInt8]?
        var identityAddress: HCIAddress?
        /// The connection signature resolving key.
        var signingKey: [UInt8]?
    }

    var own = Distributed()
    var peer = Distributed()
    var usesSecureConnections: Bool
    /// Whether the users authenticated the ends, so that no one is in between.
    var isAuthenticated: Bool
    /// The size of the long-term keys in bytes: 7...16.
    var size: Int
}
