import BluetoothBackend
public import Foundation

/// A question that a pairing asks the user.
///
/// Answer it once, now or later, from any thread. It stays open until then, until
/// `pairingAgent(_:didCancel:)`, or until the pairing is over; an answer after that, and one that does not fit the
/// question, is logged and ignored. An extension of this package.
public final class CBPairingRequest: Sendable {
    /// The question.
    public enum Question: Sendable, Hashable {
        /// Asks whether the two devices may pair. Answer with `accept()` or `reject()`.
        case consent
        /// Asks whether the peer shows this number, 0...999999, in six digits. Answer with `accept()` or `reject()`.
        case confirm(passkey: Int)
        /// Asks for the number that the peer shows. Answer with `enter(passkey:)` or `reject()`.
        case enterPasskey
        /// Asks to show this number, 0...999999, in six digits, for the user to type at the peer.
        ///
        /// Needs no answer; `reject()` ends the pairing.
        case display(passkey: Int)
        /// Asks whether the peer's data was exchanged by other means. Answer with `accept()` or `reject()`.
        case outOfBand
    }

    /// The identifier of the peer's `CBPeripheral` or `CBCentral`.
    public let peerIdentifier: UUID

    /// The question.
    public let question: Question

    private let id: PairingRequestID
    // The core keeps open requests.
    // Invariant: written only in `init`; loading a weak reference is atomic.
    nonisolated(unsafe) private weak var core: PairingCore?

    init(_ id: PairingRequestID, peer: PeerID, question: PairingQuestion, core: PairingCore) {
        self.id = id
        peerIdentifier = peer.uuid
        self.question = Question(question)
        self.core = core
    }

    /// Whether an answer is still wanted.
    public var isOpen: Bool { core?.isOpen(id) ?? false }

    /// Accepts the pairing.
    public func accept() { core?.answer(id, .accept) }

    /// Rejects the pairing, which then fails.
    public func reject() { core?.answer(id, .reject) }

    /// Answers with the number that the peer shows.
    ///
    /// - Parameter passkey: 0...999999; others are logged and ignored.
    public func enter(passkey: Int) { core?.answer(id, .passkey(passkey)) }
}

extension CBPairingRequest.Question {
    init(_ question: PairingQuestion) {
        switch question {
        case .consent: self = .consent
        case .confirm(let passkey): self = .confirm(passkey: passkey)
        case .enterPasskey: self = .enterPasskey
        case .display(let passkey): self = .display(passkey: passkey)
        case .outOfBand: self = .outOfBand
        }
    }
}

extension CBPairingRequest: CustomStringConvertible {
    /// A text for logs, without the number, which is a secret of the two users.
    public var description: String { "<CBPairingRequest: \(kindName), peer = \(peerIdentifier.uuidString)>" }

    /// The kind of the question, for logs.
    var kindName: String {
        switch question {
        case .consent: "consent"
        case .confirm: "confirm"
        case .enterPasskey: "enter passkey"
        case .display: "display"
        case .outOfBand: "out of band"
        }
    }
}
