import CoreBluetoothPackage

/// The other side of a pairing, as far as it is known.
struct PairingPeer: Equatable {
    let identifier: UUID
    var name: String?
    var address: String?

    /// What people call it.
    var label: String { name.map(PrintableText.of) ?? identifier.uuidString }
}

/// A pairing's question for people and as JSON.
struct PairingText: Equatable {
    /// A question as JSON.
    struct Record: Encodable, Equatable {
        /// `consent`, `confirm`, `enterPasskey`, `display`, `outOfBand`.
        let question: String
        /// Six digits, where the question has them.
        let passkey: String?
        /// Of the device that is paired with.
        let identifier: String
        let address: String?
        let name: String?
        /// Only where the radio is not a real one.
        let backend: String?
    }

    let record: Record
    let line: String
    /// Whether the user has to do something that "yes" does not do.
    let needsUser: Bool

    /// - Parameter backend: The radio's name, where it is not a real one.
    init(_ question: CBPairingRequest.Question, about peer: PairingPeer, backend: String?) {
        let label = peer.label
        let (kind, passkey, text): (String, Int?, String)
        switch question {
        case .consent: (kind, passkey, text) = ("consent", nil, "Pair with \(label)? [y/N]")
        case .confirm(let number):
            (kind, passkey, text) = ("confirm", number, "Does \(label) show \(Self.digits(number))? [y/N]")
        case .enterPasskey: (kind, passkey, text) = ("enterPasskey", nil, "Which six digits does \(label) show?")
        case .display(let number):
            (kind, passkey, text) = ("display", number, "Type \(Self.digits(number)) at \(label).")
        case .outOfBand:
            (kind, passkey, text) =
                ("outOfBand", nil, "Did \(label) give its data in another way, such as NFC? [y/N]")
        }
        record = Record(
            question: kind, passkey: passkey.map(Self.digits), identifier: peer.identifier.uuidString,
            address: peer.address, name: peer.name, backend: backend)
        line = backend == nil ? text : "EMULATED: " + text
        needsUser = ["enterPasskey", "display"].contains(kind)
    }

    /// Six digits.
    static func digits(_ passkey: Int) -> String {
        let text = String(passkey)
        return String(repeating: "0", count: max(0, 6 - text.count)) + text
    }
}
