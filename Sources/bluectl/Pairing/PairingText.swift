import CoreBluetoothPackage

/// A pairing's question for people and as JSON.
struct PairingText: Equatable {
    /// A question as JSON.
    struct Record: Encodable, Equatable {
        /// `consent`, `confirm`, `enterPasskey`, `display`, `outOfBand`.
        let question: String
        /// Six digits, where the question has them.
        let passkey: String?
    }

    let record: Record
    let line: String
    /// Whether the user has to do something that "yes" does not do.
    let needsUser: Bool

    init(_ question: CBPairingRequest.Question, name: String) {
        switch question {
        case .consent:
            record = Record(question: "consent", passkey: nil)
            line = "Pair with \(name)? [y/N]"
            needsUser = false
        case .confirm(let passkey):
            record = Record(question: "confirm", passkey: Self.digits(passkey))
            line = "Does \(name) show \(Self.digits(passkey))? [y/N]"
            needsUser = false
        case .enterPasskey:
            record = Record(question: "enterPasskey", passkey: nil)
            line = "Which six digits does \(name) show?"
            needsUser = true
        case .display(let passkey):
            record = Record(question: "display", passkey: Self.digits(passkey))
            line = "Type \(Self.digits(passkey)) at \(name)."
            needsUser = true
        case .outOfBand:
            record = Record(question: "outOfBand", passkey: nil)
            line = "Did \(name) give its data in another way, such as NFC? [y/N]"
            needsUser = false
        }
    }

    /// Six digits.
    static func digits(_ passkey: Int) -> String {
        let text = String(passkey)
        return String(repeating: "0", count: max(0, 6 - text.count)) + text
    }
}
