import BluetoothBackend
import BluetoothValues

/// A pairing under way on a link.
struct Pairing: Sendable {
    struct Question: Sendable {
        let id: PairingRequestID
        let agent: Ref<Manager>
        let side: LinkSide
        let kind: PairingQuestion

        /// Whether the pairing waits for the answer to the question.
        var isBlocking: Bool {
            if case .display = kind { false } else { true }
        }
    }

    /// Distinguishes the pairing from earlier ones on the same link.
    let number: UInt64
    /// The refused operation that needs the pairing and is then retried, with the error of its refusal.
    var operation: (LinkOperation, ATTCode)?
    var askers: [HostPairing.Asker] = []
    var method: PairingMethod?
    /// The number that one side shows.
    var passkey = 0
    /// The questions that are shown, answered or not.
    var questions: [Question] = []
    /// The numbers that users entered, by side.
    var typed: [LinkSide: Int] = [:]
    var timeout: WorldQueue.Token?
    /// Whether the pairing's fault has been applied.
    var isAdmitted = false
    /// Whether a fault holds up the pairing until the device resumes.
    var isPaused = false

    /// Whether the entered number is right; a described device always enters the right one.
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
