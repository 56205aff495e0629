import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// The authentication of LE legacy pairing.
///
/// Source: Core Specification, Vol 3, Part H, 2.3.5.2 to 2.3.5.5.
struct LegacyExchange: PairingExchange {
    /// The packet that is expected.
    private enum Stage { case confirm, random, none }

    private let terms: PairingTerms
    private var stage = Stage.confirm
    private let ownRandom: [UInt8]
    private var ownConfirm: [UInt8]?
    private var peerConfirm: [UInt8]?
    /// Zero, or the passkey once it is known.
    private var temporaryKey: [UInt8]?

    init(_ terms: PairingTerms, _ random: inout SeededGenerator) {
        self.terms = terms
        ownRandom = random.bytes(16)
    }

    mutating func start(passkey: Int, _ random: inout SeededGenerator) -> [PairingStep] {
        guard terms.isPasskeyUsed else {
            temporaryKey = [UInt8](repeating: 0, count: 16)
            return sendConfirm()
        }
        guard terms.showsPasskey else { return [.ask(.enterPasskey)] }
        temporaryKey = [UInt8](passkey: passkey)
        return [.ask(.display(passkey: passkey))] + sendConfirm()
    }

    mutating func enter(passkey: Int, _ random: inout SeededGenerator) -> [PairingStep] {
        temporaryKey = [UInt8](passkey: passkey)
        return sendConfirm()
    }

    mutating func confirm() -> [PairingStep] { [] }

    mutating func receive(_ packet: SecurityManagerPDU, _ random: inout SeededGenerator) -> [PairingStep] {
        switch (stage, packet) {
        case (.confirm, .confirm(let value)) where peerConfirm == nil: receive(confirm: value)
        case (.random, .random(let value)): receive(random: value)
        default: [.fail(.unspecified)]
        }
    }

    private func confirmValue(of random: [UInt8], _ key: [UInt8]) -> [UInt8] {
        SecurityFunctions.c1(
            key: key, random: random, request: SecurityManagerPDU.pairingRequest(terms.request).bytes,
            response: SecurityManagerPDU.pairingResponse(terms.response).bytes, initiator: terms.central,
            responder: terms.peripheral)
    }

    /// Sends the own confirm value when its key is known: the central at once, the peripheral after the central's.
    private mutating func sendConfirm() -> [PairingStep] {
        guard let temporaryKey, terms.side == .central || peerConfirm != nil else { return [] }
        let value = confirmValue(of: ownRandom, temporaryKey)
        ownConfirm = value
        if terms.side == .peripheral { stage = .random }
        return [.send(.confirm(value))]
    }

    private mutating func receive(confirm value: [UInt8]) -> [PairingStep] {
        guard terms.side == .central else {
            peerConfirm = value
            return sendConfirm()
        }
        guard let ownConfirm else { return [.fail(.unspecified)] }
        // An own value that comes back would prove the own random value, and no knowledge of the key.
        guard value != ownConfirm else { return [.fail(.confirmValueFailed)] }
        peerConfirm = value
        stage = .random
        return [.send(.random(ownRandom))]
    }

    private mutating func receive(random value: [UInt8]) -> [PairingStep] {
        guard let temporaryKey, confirmValue(of: value, temporaryKey) == peerConfirm else {
            return [.fail(.confirmValueFailed)]
        }
        stage = .none
        let isCentral = terms.side == .central
        let key = SecurityFunctions.s1(
            key: temporaryKey, responderRandom: isCentral ? value : ownRandom,
            initiatorRandom: isCentral ? ownRandom : value)
        let finish = PairingStep.finish(key: terms.shortened(key))
        return isCentral ? [finish] : [.send(.random(ownRandom)), finish]
    }
}
