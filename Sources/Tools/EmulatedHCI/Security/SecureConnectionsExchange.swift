import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// The authentication of LE Secure Connections.
///
/// Source: Core Specification, Vol 3, Part H, 2.3.5.6.
struct SecureConnectionsExchange: PairingExchange {
    /// The packet that is expected.
    private enum Stage { case publicKey, confirm, random, check, none }

    private static let passkeyBits = 20

    private let terms: PairingTerms
    private let keys: DiffieHellmanKeys
    private var stage = Stage.publicKey
    /// The peer's X coordinate.
    private var peerCoordinate: [UInt8] = []
    private var sharedSecret: [UInt8] = []
    private var ownRandom: [UInt8] = []
    private var peerRandom: [UInt8] = []
    private var peerConfirm: [UInt8]?
    /// The passkey once it is known.
    private var passkey: Int?
    /// The bit of the passkey that is being compared.
    private var bit = 0
    /// Whether the user still compares the numbers.
    private var isComparing = false
    /// The central's check value, which arrived while the user of the peripheral still compared.
    private var earlyCheck: [UInt8]?

    init(_ terms: PairingTerms, _ random: inout SeededGenerator) {
        self.terms = terms
        keys = DiffieHellmanKeys(using: &random)
    }

    mutating func start(passkey: Int, _ random: inout SeededGenerator) -> [PairingStep] {
        if terms.showsPasskey { self.passkey = passkey }
        return terms.side == .central ? [.send(.publicKey(keys.publicKey))] : []
    }

    mutating func enter(passkey: Int, _ random: inout SeededGenerator) -> [PairingStep] {
        self.passkey = passkey
        return sendConfirm(&random)
    }

    mutating func confirm() -> [PairingStep] {
        isComparing = false
        if terms.side == .central { return [.send(.check(ownCheck))] }
        return earlyCheck.map { verify($0) } ?? []
    }

    mutating func receive(_ packet: SecurityManagerPDU, _ random: inout SeededGenerator) -> [PairingStep] {
        switch (stage, packet) {
        case (.publicKey, .publicKey(let key)): receive(publicKey: key, &random)
        case (.confirm, .confirm(let value)) where peerConfirm == nil: receive(confirm: value, &random)
        case (.random, .random(let value)): receive(random: value, &random)
        case (.check, .check(let value)) where earlyCheck == nil: receive(check: value)
        default: [.fail(.unspecified)]
        }
    }

    // MARK: Public keys

    private mutating func receive(publicKey key: [UInt8], _ random: inout SeededGenerator) -> [PairingStep] {
        peerCoordinate = Array(key.prefix(32))
        guard terms.acceptsDebugKeys || peerCoordinate != DiffieHellmanKeys.debugCoordinate else {
            return [.fail(.authenticationRequirements)]
        }
        // An own coordinate that comes back would prove no knowledge of a private key.
        guard peerCoordinate != ownCoordinate, let secret = keys.sharedSecret(with: key) else {
            return [.fail(.checkFailed)]
        }
        sharedSecret = secret
        let answer: [PairingStep] = terms.side == .peripheral ? [.send(.publicKey(keys.publicKey))] : []
        stage = .confirm
        guard terms.isPasskeyUsed else {
            ownRandom = random.bytes(16)
            guard terms.side == .peripheral else { return answer }
            stage = .random
            return answer + [.send(.confirm(ownConfirm))]
        }
        guard let passkey else { return answer + [.ask(.enterPasskey)] }
        return answer + [.ask(.display(passkey: passkey))] + sendConfirm(&random)
    }

    private var ownCoordinate: [UInt8] { Array(keys.publicKey.prefix(32)) }

    // MARK: Confirm and random values

    /// The last input of f4: the bit of the passkey that is being compared.
    private var confirmedBit: UInt8 { passkey.map { 0x80 | UInt8($0 >> bit & 1) } ?? 0 }

    private var ownConfirm: [UInt8] {
        SecurityFunctions.f4(ownCoordinate, peerCoordinate, ownRandom, confirmedBit)
    }

    /// Sends the own confirm value for a bit of the passkey if it is known: the central at once, the peripheral after the
    /// central's.
    private mutating func sendConfirm(_ random: inout SeededGenerator) -> [PairingStep] {
        guard passkey != nil, terms.side == .central || peerConfirm != nil else { return [] }
        ownRandom = random.bytes(16)
        if terms.side == .peripheral { stage = .random }
        return [.send(.confirm(ownConfirm))]
    }

    private mutating func receive(confirm value: [UInt8], _ random: inout SeededGenerator) -> [PairingStep] {
        guard terms.side == .central else {
            peerConfirm = value
            return sendConfirm(&random)
        }
        // The peripheral answers the central's value, which waits for the passkey.
        guard !ownRandom.isEmpty else { return [.fail(.unspecified)] }
        peerConfirm = value
        stage = .random
        return [.send(.random(ownRandom))]
    }

    private mutating func receive(random value: [UInt8], _ random: inout SeededGenerator) -> [PairingStep] {
        peerRandom = value
        // Without a passkey, the central sends no confirm value.
        if let peerConfirm {
            let expected = SecurityFunctions.f4(peerCoordinate, ownCoordinate, peerRandom, confirmedBit)
            guard expected == peerConfirm else { return [.fail(.confirmValueFailed)] }
        }
        let answer: [PairingStep] = terms.side == .peripheral ? [.send(.random(ownRandom))] : []
        guard terms.isPasskeyUsed else { return answer + compare() }
        peerConfirm = nil
        bit += 1
        guard bit == Self.passkeyBits else {
            stage = .confirm
            return answer + (terms.side == .central ? sendConfirm(&random) : [])
        }
        return answer + beginCheck()
    }

    private mutating func compare() -> [PairingStep] {
        guard terms.method == .numericComparison else { return beginCheck() }
        stage = .check
        isComparing = true
        let number =
            terms.side == .central
            ? SecurityFunctions.g2(ownCoordinate, peerCoordinate, ownRandom, peerRandom)
            : SecurityFunctions.g2(peerCoordinate, ownCoordinate, peerRandom, ownRandom)
        return [.ask(.confirm(passkey: Int(number % 1_000_000)))]
    }

    // MARK: Check values

    private mutating func beginCheck() -> [PairingStep] {
        stage = .check
        return terms.side == .central ? [.send(.check(ownCheck))] : []
    }

    private var derivedKeys: (checkKey: [UInt8], longTermKey: [UInt8]) {
        let isCentral = terms.side == .central
        return SecurityFunctions.f5(
            sharedSecret, isCentral ? ownRandom : peerRandom, isCentral ? peerRandom : ownRandom,
            initiator: terms.central, responder: terms.peripheral)
    }

    private var ownCheck: [UInt8] { check(of: terms.side, ownRandom, peerRandom) }

    private func check(of side: LinkSide, _ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
        let packet: SecurityManagerPDU =
            side == .central ? .pairingRequest(terms.request) : .pairingResponse(terms.response)
        return SecurityFunctions.f6(
            derivedKeys.checkKey, first, second, [UInt8](passkey: passkey ?? 0),
            capabilities: Array(packet.bytes[1...3]), side == .central ? terms.central : terms.peripheral,
            side == .central ? terms.peripheral : terms.central)
    }

    private mutating func receive(check value: [UInt8]) -> [PairingStep] {
        guard isComparing else { return verify(value) }
        // The peripheral sends its value after the central's, which waits for the user.
        guard terms.side == .peripheral else { return [.fail(.unspecified)] }
        earlyCheck = value
        return []
    }

    private mutating func verify(_ value: [UInt8]) -> [PairingStep] {
        guard value == check(of: terms.side.other, peerRandom, ownRandom) else { return [.fail(.checkFailed)] }
        stage = .none
        let finish = PairingStep.finish(key: terms.shortened(derivedKeys.longTermKey))
        return terms.side == .central ? [finish] : [.send(.check(ownCheck)), finish]
    }
}
