extension CBCentralManager {
    /// What an adapter may be able to do.
    ///
    /// Source: Apple, CBCentralManager.Feature.
    public struct Feature: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Makes a set of bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Scans and connects while extended advertising is used.
        public static let extendedScanAndConnect = Self(rawValue: 1 << 0)
    }
}
