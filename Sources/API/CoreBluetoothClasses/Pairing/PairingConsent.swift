import BluetoothBackend

/// The pairings that the words of `COREBLUETOOTH_PAIRING` agree to.
///
/// Pure. Pairings that no word names are refused.
struct PairingConsent: Hashable, Sendable {
    /// The words of the variable, for the log.
    static let syntax = "just-works, passkey=NNNNNN (six digits) and incoming, separated by commas"

    /// Whether pairings without a number are accepted.
    private(set) var acceptsJustWorks = false
    /// The number to enter if a device shows one, 0...999999.
    private(set) var passkey: Int?
    /// Whether the consent also applies to centrals that connect to this computer, besides the devices that the program
    /// connects to.
    private(set) var includesIncoming = false

    /// Reads the variable; nil if a word is unknown or occurs twice, or no kind of pairing is named.
    init?(_ text: String) {
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            if word == "just-works", !acceptsJustWorks {
                acceptsJustWorks = true
            } else if word == "incoming", !includesIncoming {
                includesIncoming = true
            } else if let number = Self.passkey(word), passkey == nil {
                passkey = number
            } else {
                return nil
            }
        }
        guard acceptsJustWorks || passkey != nil else { return nil }
    }

    private static func passkey(_ word: Substring) -> Int? {
        guard word.hasPrefix("passkey=") else { return nil }
        let digits = word.utf8.dropFirst("passkey=".utf8.count)
        guard digits.count == 6, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(word.suffix(6))
    }

    /// The capability that leads to the questions that can be answered.
    var capability: CBPairingCapability { passkey == nil ? .noInputNoOutput : .keyboardOnly }

    /// The answer to a question.
    ///
    /// - Parameter isIncoming: Whether the program does not connect to the peer.
    func answer(to question: CBPairingRequest.Question, isIncoming: Bool) -> PairingAnswer {
        guard includesIncoming || !isIncoming else { return .reject }
        switch question {
        case .consent: return acceptsJustWorks ? .accept : .reject
        case .enterPasskey: return passkey.map { .passkey($0) } ?? .reject
        case .confirm, .display, .outOfBand: return .reject
        }
    }
}

extension PairingConsent: CustomStringConvertible {
    /// A text of the consent for the log, without the number, which is a secret.
    var description: String {
        let peers = "devices that it connects to" + (includesIncoming ? " and with centrals that connect to it" : "")
        var ways: [String] = []
        if acceptsJustWorks { ways.append("without a number, so that a third party may listen and speak in between") }
        if passkey != nil { ways.append("with the given passkey") }
        return "this program pairs unasked with \(peers): \(ways.joined(separator: "; or "))"
    }
}
