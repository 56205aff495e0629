import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// The distribution of keys, the phase 3 of a pairing: the peripheral's keys, then the central's.
///
/// Source: Core Specification, Vol 3, Part H, 2.4.3 and 3.6.1.
struct KeyExchange: Sendable {
    enum Part: Sendable { case longTermKey, identification, identityKey, identityAddress, signingKey }

    let terms: PairingTerms
    var keys: SecurityKeys
    /// The keys that the peer still has to send, in this order.
    var expected: ArraySlice<Part>

    init(_ terms: PairingTerms, key: [UInt8]) {
        self.terms = terms
        keys = SecurityKeys(
            usesSecureConnections: terms.usesSecureConnections, isAuthenticated: terms.method.isAuthenticated,
            size: terms.keySize)
        if terms.usesSecureConnections {
            let key = SecurityKeys.LongTermKey(value: key, random: 0, diversifier: 0)
            (keys.own.longTermKey, keys.peer.longTermKey) = (key, key)
        }
        let peerKeys = terms.keys(of: terms.side.other)
        var expected: [Part] = []
        if peerKeys.contains(.encryption) { expected += [.longTermKey, .identification] }
        if peerKeys.contains(.identity) { expected += [.identityKey, .identityAddress] }
        if peerKeys.contains(.signing) { expected.append(.signingKey) }
        self.expected = expected[...]
    }

    /// Draws the keys that this end distributes.
    mutating func draw(_ configuration: SecurityManager.Configuration, _ random: inout SeededGenerator) {
        let ownKeys = terms.keys(of: terms.side)
        if ownKeys.contains(.encryption) {
            keys.own.longTermKey = SecurityKeys.LongTermKey(
                value: terms.shortened(random.bytes(16)), random: random.next(),
                diversifier: UInt16(truncatingIfNeeded: random.next()))
        }
        if ownKeys.contains(.identity) {
            keys.own.identityKey = configuration.identityKey
            keys.own.identityAddress = configuration.identityAddress
        }
        if ownKeys.contains(.signing) { keys.own.signingKey = random.bytes(16) }
    }

    /// The packets with the keys of this end.
    var packets: [SecurityManagerPDU] {
        var packets: [SecurityManagerPDU] = []
        if !terms.usesSecureConnections, let key = keys.own.longTermKey {
            packets.append(.encryptionInformation(key.value))
            packets.append(.centralIdentification(random: key.random, diversifier: key.diversifier))
        }
        if let key = keys.own.identityKey, let address = keys.own.identityAddress {
            packets += [.identityInformation(key), .identityAddress(address)]
        }
        if let key = keys.own.signingKey { packets.append(.signingInformation(key)) }
        return packets
    }

    /// Accepts a key of the peer.
    mutating func accept(_ packet: SecurityManagerPDU) throws(PairingFailedReason) {
        switch (expected.popFirst(), packet) {
        case (.longTermKey, .encryptionInformation(let key)):
            keys.peer.longTermKey = SecurityKeys.LongTermKey(value: key, random: 0, diversifier: 0)
        case (.identification, .centralIdentification(let random, let diversifier)):
            keys.peer.longTermKey?.random = random
            keys.peer.longTermKey?.diversifier = diversifier
        case (.identityKey, .identityInformation(let key)): keys.peer.identityKey = key
        case (.identityAddress, .identityAddress(let address)):
            // An identity is a public or a static address (Vol 6, Part B, 1.3).
            guard !address.isRandom || address.bits >> 46 == 0b11 else { throw .keyRejected }
            keys.peer.identityAddress = address
        case (.signingKey, .signingInformation(let key)): keys.peer.signingKey = key
        default: throw .unspecified
        }
    }
}

// Encryption, and the distribution of keys.
extension SecurityManager {
    // MARK: Encryption

    mutating func startEncryption() -> [Action] {
        guard case .idle = phase else { return [] }
        guard side == .central, let key = keys?.peer.longTermKey else { return startPairing(isRequestedByUser: false) }
        return resume(key)
    }

    mutating func resume(_ key: SecurityKeys.LongTermKey) -> [Action] {
        phase = .resuming
        return [.startEncryption(key: key.value, random: key.random, diversifier: key.diversifier)]
    }

    mutating func answerKeyRequest(_ random: UInt64, _ diversifier: UInt16) -> [Action] {
        switch phase {
        case .encrypting(_, let key) where random == 0 && diversifier == 0: return [.answerKeyRequest(key: key)]
        case .requesting, .consenting, .authenticating, .encrypting, .distributing: return [.answerKeyRequest(key: nil)]
        case .idle, .asking, .resuming, .barred: break
        }
        guard let key = keys?.own.longTermKey, key.random == random, key.diversifier == diversifier else {
            return [.answerKeyRequest(key: nil)]
        }
        var actions: [Action] = []
        if case .asking = phase { actions.append(.stopTimer) }
        if case .barred = phase {} else { phase = .resuming }
        return actions + [.answerKeyRequest(key: key.value)]
    }

    mutating func changeEncryption(_ status: UInt8) -> [Action] {
        switch phase {
        case .encrypting(let terms, let key):
            guard status == 0 else { return end(.encryption(status: status)) }
            return encrypted(isAuthenticated: terms.method.isAuthenticated) + distribute(KeyExchange(terms, key: key))
        case .resuming:
            guard status == 0 else { return end(.encryption(status: status)) }
            (phase, isRequestedByUser) = (.idle, false)
            return encrypted(isAuthenticated: keys?.isAuthenticated == true) + [.resumed]
        // A link without further pairings can still be encrypted.
        case .barred: return status == 0 ? encrypted(isAuthenticated: keys?.isAuthenticated == true) + [.resumed] : []
        case .idle, .asking, .requesting, .consenting, .authenticating, .distributing: return []
        }
    }

    private mutating func encrypted(isAuthenticated: Bool) -> [Action] {
        (isEncrypted, self.isAuthenticated) = (true, isAuthenticated)
        return [.encrypted(isAuthenticated: isAuthenticated)]
    }

    // MARK: Distribution

    private mutating func distribute(_ exchange: KeyExchange) -> [Action] {
        var exchange = exchange
        exchange.draw(configuration, &random)
        return (side == .peripheral ? exchange.packets.flatMap(send) : []) + proceed(exchange)
    }

    /// Waits for the peer's keys, or completes the pairing.
    private mutating func proceed(_ exchange: KeyExchange) -> [Action] {
        phase = .distributing(exchange)
        guard exchange.expected.isEmpty else { return [] }
        let packets = side == .central ? exchange.packets.flatMap(send) : []
        (phase, openQuestion, isRequestedByUser) = (.idle, nil, false)
        keys = exchange.keys
        return packets + [.stopTimer, .paired(exchange.keys, isBonded: exchange.terms.isBonding)]
    }

    mutating func receive(_ packet: SecurityManagerPDU, of exchange: KeyExchange) -> [Action] {
        var exchange = exchange
        do {
            try exchange.accept(packet)
            return proceed(exchange)
        } catch {
            return fail(error)
        }
    }
}
