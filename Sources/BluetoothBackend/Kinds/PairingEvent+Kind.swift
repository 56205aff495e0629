extension PairingEvent {
    /// An event without its content; the case names of ``PairingEvent``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case requested, cancelled, paired, pairingFailed, unpaired
    }

    /// Which case this is.
    public var kind: Kind {
        switch self {
        case .requested: .requested
        case .cancelled: .cancelled
        case .paired: .paired
        case .pairingFailed: .pairingFailed
        case .unpaired: .unpaired
        }
    }
}
