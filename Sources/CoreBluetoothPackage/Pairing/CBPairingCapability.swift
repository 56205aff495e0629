import BluetoothBackend

/// What an app can show to its user and ask of it; this and the peer's decide how a pairing is secured.
///
/// An extension of this package. Source: Core Specification, Vol 3, Part H, 2.3.2.
public enum CBPairingCapability: Sendable, Hashable, CaseIterable {
    /// Shows six digits.
    case displayOnly
    /// Shows six digits and asks yes or no.
    case displayYesNo
    /// Asks for six digits.
    case keyboardOnly
    /// Neither: Just Works, without protection from a third party that listens and speaks.
    case noInputNoOutput
    /// Shows and asks for six digits.
    case keyboardDisplay

    var backendCapability: PairingCapability {
        switch self {
        case .displayOnly: .displayOnly
        case .displayYesNo: .displayYesNo
        case .keyboardOnly: .keyboardOnly
        case .noInputNoOutput: .noInputNoOutput
        case .keyboardDisplay: .keyboardDisplay
        }
    }
}
