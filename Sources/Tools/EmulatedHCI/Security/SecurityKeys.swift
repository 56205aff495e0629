package import BluetoothHCI

/// The keys of a pairing, in the order of the air: least significant byte first.
package struct SecurityKeys: Hashable, Sendable {
    /// A key with which links are encrypted, and its identification.
    package struct LongTermKey: Hashable, Sendable {
        package var value: [UInt8]
        /// 0 in LE Secure Connections, as is `diversifier`.
        package var random: UInt64
        package var diversifier: UInt16

        package init(value: [UInt8], random: UInt64, diversifier: UInt16) {
            (self.value, self.random, self.diversifier) = (value, random, diversifier)
        }
    }

    /// The keys that one end distributed; nil for those that it did not.
    package struct Distributed: Hashable, Sendable {
        /// The key of links on which that end is the peripheral; in LE Secure Connections, both ends have the same.
        package var longTermKey: LongTermKey?
        /// The identity resolving key.
        package var identityKey: [UInt8]?
        package var identityAddress: HCIAddress?
        /// The connection signature resolving key.
        package var signingKey: [UInt8]?

        package init() {}
    }

    package var own = Distributed()
    package var peer = Distributed()
    package var usesSecureConnections: Bool
    /// Whether the users authenticated the ends, so that no one is in between.
    package var isAuthenticated: Bool
    /// The size of the long-term keys in bytes: 7...16.
    package var size: Int

    package init(usesSecureConnections: Bool, isAuthenticated: Bool, size: Int) {
        (self.usesSecureConnections, self.isAuthenticated) = (usesSecureConnections, isAuthenticated)
        self.size = size
    }
}
