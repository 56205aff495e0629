import BluetoothBackend

/// How two sides make sure of each other.
enum PairingMethod: Hashable, Sendable {
    /// Not at all.
    case justWorks
    /// Both show a number and ask whether it is the same.
    case numericComparison
    /// One shows a number that is typed at the other; nil: both type the same.
    case passkey(shownBy: LinkSide?)
    /// The data came in another way.
    case outOfBand

    /// Chooses by what both sides can do.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.3.5.1, tables 2.7 and 2.8 for LE Secure Connections.
    init(central: PairingCapability, peripheral: PairingCapability, hasOutOfBandData: Bool) {
        guard !hasOutOfBandData else {
            self = .outOfBand
            return
        }
        switch (central, peripheral) {
        case (.noInputNoOutput, _), (_, .noInputNoOutput), (.displayOnly, .displayOnly),
            (.displayOnly, .displayYesNo), (.displayYesNo, .displayOnly):
            self = .justWorks
        case (.displayYesNo, .displayYesNo), (.displayYesNo, .keyboardDisplay), (.keyboardDisplay, .displayYesNo),
            (.keyboardDisplay, .keyboardDisplay):
            self = .numericComparison
        case (.keyboardOnly, .keyboardOnly): self = .passkey(shownBy: nil)
        case (.keyboardOnly, _), (.keyboardDisplay, .displayOnly): self = .passkey(shownBy: .peripheral)
        case (_, .keyboardOnly), (.displayOnly, .keyboardDisplay): self = .passkey(shownBy: .central)
        }
    }

    /// Whether the key is authenticated.
    var isAuthenticated: Bool { self != .justWorks }
}
