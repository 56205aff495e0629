import BluetoothBackend
import BluetoothValues

/// A pairing under way on a link.
struct Pairing: Sendable {
    struct Question: Sendable {
        let id: PairingRequestID
        let agent: Ref<Manager>
        let side: LinkSide
        let kind: PairingQuestion

        /// Whether the pairing waits for its answer.
        var isBlocking: Bool {
            if case .display = kind { false } else { true }
        }
    }

    /// Distinguishes it from an earlier one of the same link.
    let number: UInt64
    /// The operation that needs it and is tried again, with its refusal.
    var operation: (LinkOperation, ATTCode)?
    var askers: [HostPairing.Asker] = []
    var method: PairingMethod?
    /// The number that is shown.
    var passkey = 0
    /// The questions that are shown, answered or not.
    var questions: [Question] = []
    /// The numbers that were typed, by side.
    var typed: [LinkSide: Int] = [:]
    var timeout: WorldQueue.Token?
    /// It met the fault that it was to meet.
    var isAdmitted = false
    /// A fault holds it up until it is resumed.
    var isPaused = false

    /// Whether what was typed is right; a described device types right.
    var isPasskeyRight: Bool {
        switch method {
        case .passkey(shownBy: .central?): typed[.peripheral] ?? passkey == passkey
        case .passkey(shownBy: .peripheral?): typed[.central] ?? passkey == passkey
        case .passkey(shownBy: nil):
            Set([typed[.central], typed[.peripheral]].compactMap { $0 }).count <= 1
        default: true
        }
    }
}

/// How two sides authenticate each other.
package enum PairingMethod: Hashable, Sendable {
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

    var isAuthenticated: Bool { self != .justWorks }
}
