extension PairingCommand {
    /// A command without its content; the case names of ``PairingCommand``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case setCapability, pair, unpair, answer
    }

    /// Which case this is.
    public var kind: Kind {
        switch self {
        case .setCapability: .setCapability
        case .pair: .pair
        case .unpair: .unpair
        case .answer: .answer
        }
    }
}
