import BluetoothBackend

/// The method by which two sides authenticate each other.
package enum PairingMethod: Hashable, Sendable {
    /// No authentication.
    case justWorks
    /// Both sides show a number, and the users confirm that it is the same.
    case numericComparison
    /// One side shows a number that the user enters at the other; if nil, both users enter the same number.
    case passkey(shownBy: LinkSide?)
    /// The data is exchanged out of band.
    case outOfBand

    /// Chooses the method by the capabilities of both sides.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.3.5.1, tables 2.6 to 2.8.
    package init(
        central: PairingCapability, peripheral: PairingCapability, hasOutOfBandData: Bool,
        usesSecureConnections: Bool = true
    ) {
        guard !hasOutOfBandData else {
            self = .outOfBand
            return
        }
        switch (central, peripheral) {
        case (.noInputNoOutput, _), (_, .noInputNoOutput), (.displayOnly, .displayOnly),
            (.displayOnly, .displayYesNo), (.displayYesNo, .displayOnly):
            self = .justWorks
        case (.displayYesNo, .displayYesNo): self = usesSecureConnections ? .numericComparison : .justWorks
        case (.displayYesNo, .keyboardDisplay), (.keyboardDisplay, .keyboardDisplay):
            self = usesSecureConnections ? .numericComparison : .passkey(shownBy: .central)
        case (.keyboardDisplay, .displayYesNo):
            self = usesSecureConnections ? .numericComparison : .passkey(shownBy: .peripheral)
        case (.keyboardOnly, .keyboardOnly): self = .passkey(shownBy: nil)
        case (.keyboardOnly, _), (.keyboardDisplay, .displayOnly): self = .passkey(shownBy: .peripheral)
        case (_, .keyboardOnly), (.displayOnly, .keyboardDisplay): self = .passkey(shownBy: .central)
        }
    }

    package var isAuthenticated: Bool { self != .justWorks }
}
