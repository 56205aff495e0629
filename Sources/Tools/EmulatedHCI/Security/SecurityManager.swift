import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// The Security Manager of one end of a link, as a state machine: each input returns actions, to be performed in order.
///
/// Between its inputs, at most one pairing, one question and one timer are open. The random values are those of a seeded
/// generator, so the keys protect nothing but emulated links.
///
/// Source: Core Specification, Vol 3, Part H.
struct SecurityManager: Sendable {
    enum Input: Hashable, Sendable {
        /// Pairs anew; the peripheral asks the central to. Ignored during a pairing.
        ///
        /// A user who requested the pairing is not asked whether to pair at all.
        case pair(isRequestedByUser: Bool)
        /// Encrypts the link with the keys of an earlier pairing, or pairs if there are none; the peripheral asks the central
        /// to. Ignored during a pairing.
        case encrypt
        /// A packet of the peer on channel 6.
        case received([UInt8])
        /// The user's answer to the open question. One that does not fit it rejects it; without a question, none matters.
        case answered(PairingAnswer)
        /// The user or the app gives up.
        case cancel
        /// The central starts encryption: an action answers at once.
        case keyRequested(random: UInt64, diversifier: UInt16)
        /// Encryption has started, or has failed with an error code of the controller.
        case encryptionChanged(status: UInt8)
        /// 30 seconds have passed since the last `startTimer`.
        case timedOut
        /// The link has ended.
        case disconnected
    }

    enum Action: Hashable, Sendable {
        /// Sends a packet on channel 6.
        case send([UInt8])
        /// Starts the timer of 30 seconds, or starts it again.
        case startTimer
        case stopTimer
        /// Asks the user; a number that is displayed needs no answer, and stays until the pairing ends.
        case ask(PairingQuestion)
        /// The open question is void.
        case cancelQuestion
        /// Starts encryption as the central.
        case startEncryption(key: [UInt8], random: UInt64, diversifier: UInt16)
        /// Answers `keyRequested`; nil if there is no such key.
        case answerKeyRequest(key: [UInt8]?)
        /// The link is encrypted, with the keys of this pairing or of an earlier one.
        case encrypted(isAuthenticated: Bool)
        /// The encryption is that with the keys of an earlier pairing.
        case resumed
        /// The pairing is complete. Both ends store the keys if they bond.
        case paired(SecurityKeys, isBonded: Bool)
        /// The pairing, or the encryption with the keys of an earlier one, failed.
        case failed(Failure)
    }

    enum Failure: Hashable, Sendable {
        /// This end ended the pairing, and sent the reason.
        case ended(PairingFailedReason)
        /// The peer ended the pairing.
        case endedByPeer(PairingFailedReason)
        /// Encryption failed, with an error code of the controller.
        case encryption(status: UInt8)
        /// The peer was silent for 30 seconds.
        case timedOut
        /// The link ended first.
        case disconnected
    }

    struct Configuration: Hashable, Sendable {
        /// Protection against a man in the middle.
        enum Authentication: Hashable, Sendable { case none, requested, required }

        /// The answer to the peer's requests.
        enum Policy: Hashable, Sendable {
            case accept
            case refuse(PairingFailedReason)
            /// The peer's timer ends the pairing.
            case ignore
        }

        var capability: PairingCapability
        var supportsSecureConnections = true
        var isBondable = true
        /// `required` refuses Just Works.
        var authentication: Authentication
        /// The sizes of the long-term key in bytes, within 7...16.
        var keySizes = 7...16
        var policy = Policy.accept
        var identityAddress: HCIAddress
        /// The identity resolving key, 16 bytes; without one, the end distributes no identity.
        var identityKey: [UInt8]?
        /// Whether connection signature resolving keys are exchanged.
        var exchangesSigningKeys = false
        /// Whether a peer may use the public key whose private key everyone knows.
        var acceptsDebugKeys = false
        /// The number that this end shows, 0...999999; nil draws one for each pairing.
        var passkey: Int?
        /// The number of failed pairings on a link after which further requests of the peer are refused.
        ///
        /// The specification lets the peer wait longer and longer instead, which needs a clock (Vol 3, Part H, 2.3.6).
        var maximumFailures = 8

        /// The default authenticates if the capability allows it.
        init(capability: PairingCapability, identityAddress: HCIAddress) {
            (self.capability, self.identityAddress) = (capability, identityAddress)
            authentication = capability == .noInputNoOutput ? .none : .requested
        }
    }

    enum Phase: Sendable {
        case idle
        /// The peripheral has asked the central for security.
        case asking
        /// The central has sent its features.
        case requesting(SecurityManagerPDU.PairingFeatures)
        /// The user is asked whether to pair at all.
        case consenting(PairingTerms)
        case authenticating(PairingTerms, any PairingExchange)
        /// Both ends have the key; encryption starts.
        case encrypting(PairingTerms, key: [UInt8])
        case distributing(KeyExchange)
        /// Encryption starts with the keys of an earlier pairing.
        case resuming
        /// A pairing timed out: the link has no further one (3.4). Or the link has ended.
        case barred
    }

    let side: LinkSide
    let address: HCIAddress
    let peerAddress: HCIAddress
    /// Changes count from the next pairing on.
    var configuration: Configuration
    var random: SeededGenerator
    var phase = Phase.idle
    var openQuestion: PairingQuestion?
    var isRequestedByUser = false
    var failureCount = 0
    /// The keys of the last pairing with the peer, on this link or an earlier one.
    var keys: SecurityKeys?
    var isEncrypted = false
    /// Whether the link is encrypted with an authenticated key.
    var isAuthenticated = false

    /// - Parameters:
    ///   - address: The own address on the air when the link was set up.
    ///   - peerAddress: The peer's.
    ///   - keys: Those of an earlier pairing with the peer.
    init(
        side: LinkSide, address: HCIAddress, peerAddress: HCIAddress, configuration: Configuration,
        keys: SecurityKeys? = nil, random: SeededGenerator
    ) {
        precondition(configuration.keySizes.lowerBound >= 7 && configuration.keySizes.upperBound <= 16)
        precondition(configuration.identityKey.map { $0.count == 16 } ?? true)
        precondition(configuration.passkey.map { (0...999_999).contains($0) } ?? true)
        (self.side, self.address, self.peerAddress) = (side, address, peerAddress)
        (self.configuration, self.keys, self.random) = (configuration, keys, random)
    }

    mutating func handle(_ input: Input) -> [Action] {
        switch input {
        case .pair(let isRequestedByUser): startPairing(isRequestedByUser: isRequestedByUser)
        case .encrypt: startEncryption()
        case .received(let bytes): receive(bytes)
        case .answered(let answer): handleAnswer(answer)
        case .cancel: isPairing ? fail(.unspecified) : []
        case .keyRequested(let random, let diversifier): answerKeyRequest(random, diversifier)
        case .encryptionChanged(let status): changeEncryption(status)
        case .timedOut: timeOut()
        case .disconnected: disconnect()
        }
    }

    // MARK: Packets

    private mutating func receive(_ bytes: [UInt8]) -> [Action] {
        if case .barred = phase { return [] }
        // Reserved codes are ignored (3.3).
        guard let code = bytes.first, (0x01...0x0E).contains(code) else { return [] }
        guard let packet = SecurityManagerPDU(bytes) else {
            let isRequest = code == (side == .peripheral ? 0x01 : 0x0B)
            return isPairing || isRequest ? fail(.invalidParameters) : []
        }
        switch (packet, side) {
        case (.pairingRequest(let features), .peripheral): return receive(request: features)
        case (.securityRequest(let requirements), .central): return receive(requirements)
        case (.pairingRequest, .central), (.securityRequest, .peripheral): return fail(.commandNotSupported)
        case (.failed(let reason), _): return isPairing ? end(.endedByPeer(PairingFailedReason(rawValue: reason))) : []
        case (.keypress, _): return []
        default: return continuePairing(packet)
        }
    }

    private mutating func continuePairing(_ packet: SecurityManagerPDU) -> [Action] {
        switch phase {
        case .requesting(let request):
            guard case .pairingResponse(let response) = packet else { return fail(.unspecified) }
            return receive(response: response, to: request)
        case .authenticating(let terms, var exchange):
            let steps = exchange.receive(packet, &random)
            return perform(steps, terms, exchange)
        case .distributing(let exchange): return receive(packet, of: exchange)
        case .consenting, .encrypting: return fail(.unspecified)
        // Packets of a pairing that this end has ended are still on their way.
        case .idle, .asking, .resuming, .barred: return []
        }
    }

    /// Sends a packet of a pairing, which starts the timer again (3.4).
    func send(_ packet: SecurityManagerPDU) -> [Action] { [.send(packet.bytes), .startTimer] }

    // MARK: Failing

    /// Whether a failure of the peer would concern this end.
    var isPairing: Bool {
        switch phase {
        case .asking, .requesting, .consenting, .authenticating, .encrypting, .distributing: true
        case .idle, .resuming, .barred: false
        }
    }

    /// Ends a pairing, or refuses one, with a packet to the peer.
    mutating func fail(_ reason: PairingFailedReason) -> [Action] {
        let packet = SecurityManagerPDU.failed(reason: reason.rawValue)
        // A refused request does not keep a link from being encrypted with earlier keys.
        return [.send(packet.bytes)] + end(.ended(reason), in: isPairing ? .idle : phase)
    }

    /// Ends a pairing, or the attempt to encrypt with the keys of an earlier one.
    mutating func end(_ failure: Failure, in phase: Phase = .idle) -> [Action] {
        var actions: [Action] = isPairing ? [.stopTimer] : []
        if openQuestion != nil { actions.append(.cancelQuestion) }
        (self.phase, openQuestion, isRequestedByUser) = (phase, nil, false)
        failureCount += 1
        return actions + [.failed(failure)]
    }

    private mutating func timeOut() -> [Action] {
        switch phase {
        // No pairing has begun.
        case .asking: end(.timedOut)
        default: isPairing ? end(.timedOut, in: .barred) : []
        }
    }

    private mutating func disconnect() -> [Action] {
        (isEncrypted, isAuthenticated) = (false, false)
        if case .resuming = phase { return end(.disconnected, in: .barred) }
        guard isPairing else {
            phase = .barred
            return []
        }
        return end(.disconnected, in: .barred)
    }
}
