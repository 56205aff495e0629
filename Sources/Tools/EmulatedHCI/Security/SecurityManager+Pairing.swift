import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

// The exchange of features, the user's answers and the authentication.
extension SecurityManager {
    // MARK: Beginning

    mutating func startPairing(
        isRequestedByUser: Bool, for requirements: SecurityManagerPDU.Requirements = []
    ) -> [Action] {
        guard case .idle = phase else { return [] }
        self.isRequestedByUser = isRequestedByUser
        guard side == .central else {
            phase = .asking
            return send(.securityRequest(self.requirements))
        }
        var request = features
        if configuration.capability != .noInputNoOutput {
            request.requirements.formUnion(requirements.intersection(.authentication))
        }
        phase = .requesting(request)
        return send(.pairingRequest(request))
    }

    private var requirements: SecurityManagerPDU.Requirements {
        var requirements: SecurityManagerPDU.Requirements = []
        if configuration.isBondable { requirements.insert(.bonding) }
        if configuration.authentication != .none { requirements.insert(.authentication) }
        if configuration.supportsSecureConnections { requirements.insert(.secureConnections) }
        return requirements
    }

    /// The features of this end, with all keys that it would exchange.
    private var features: SecurityManagerPDU.PairingFeatures {
        var own: SecurityManagerPDU.KeyDistribution = []
        var peer: SecurityManagerPDU.KeyDistribution = []
        if configuration.isBondable {
            own = configuration.identityKey == nil ? [.encryption] : [.encryption, .identity]
            peer = [.encryption, .identity]
            if configuration.exchangesSigningKeys {
                own.insert(.signing)
                peer.insert(.signing)
            }
        }
        return SecurityManagerPDU.PairingFeatures(
            capability: configuration.capability.octet, hasOutOfBandData: false, requirements: requirements,
            maximumKeySize: UInt8(configuration.keySizes.upperBound), initiatorKeys: side == .central ? own : peer,
            responderKeys: side == .central ? peer : own)
    }

    /// The answer to the central's features.
    private func response(to request: SecurityManagerPDU.PairingFeatures) -> SecurityManagerPDU.PairingFeatures {
        var response = features
        response.initiatorKeys.formIntersection(request.initiatorKeys)
        response.responderKeys.formIntersection(request.responderKeys)
        let common = response.requirements.intersection(request.requirements)
        if !common.contains(.bonding) { (response.initiatorKeys, response.responderKeys) = ([], []) }
        if common.contains(.secureConnections) {
            response.initiatorKeys.remove(.encryption)
            response.responderKeys.remove(.encryption)
        }
        return response
    }

    private func makeTerms(
        _ request: SecurityManagerPDU.PairingFeatures, _ response: SecurityManagerPDU.PairingFeatures
    ) throws(PairingFailedReason) -> PairingTerms {
        let (central, peripheral) = side == .central ? (address, peerAddress) : (peerAddress, address)
        return try PairingTerms(
            configuration, side: side, central: central, peripheral: peripheral, request: request, response: response)
    }

    // MARK: The peer's features

    /// The answer to a request of the peer that is not accepted; nil if it is.
    private mutating func refusal() -> [Action]? {
        switch configuration.policy {
        case .ignore: []
        case .refuse(let reason): fail(reason)
        case .accept: failureCount < configuration.maximumFailures ? nil : fail(.repeatedAttempts)
        }
    }

    mutating func receive(request: SecurityManagerPDU.PairingFeatures) -> [Action] {
        switch phase {
        case .idle, .asking, .resuming: break
        default: return fail(.unspecified)
        }
        if let refusal = refusal() { return refusal }
        do {
            let terms = try makeTerms(request, response(to: request))
            return [.startTimer] + askForConsent(terms)
        } catch {
            return fail(error)
        }
    }

    /// Handles a security request of the peripheral.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.4.6.
    mutating func receive(_ requirements: SecurityManagerPDU.Requirements) -> [Action] {
        guard case .idle = phase else { return [] }
        let isAuthenticationWanted = requirements.contains(.authentication)
        guard !isEncrypted || isAuthenticationWanted && !isAuthenticated else { return [] }
        if let keys, keys.isAuthenticated || !isAuthenticationWanted, let key = keys.peer.longTermKey {
            return resume(key)
        }
        return refusal() ?? startPairing(isRequestedByUser: false, for: requirements)
    }

    mutating func receive(
        response: SecurityManagerPDU.PairingFeatures, to request: SecurityManagerPDU.PairingFeatures
    ) -> [Action] {
        do {
            return askForConsent(try makeTerms(request, response))
        } catch {
            return fail(error)
        }
    }

    /// Asks a user who has not requested a pairing by Just Works; the other methods need an answer anyway.
    private mutating func askForConsent(_ terms: PairingTerms) -> [Action] {
        guard terms.method == .justWorks, !isRequestedByUser else { return authenticate(terms) }
        phase = .consenting(terms)
        openQuestion = .consent
        return [.ask(.consent)]
    }

    // MARK: Authentication

    private mutating func authenticate(_ terms: PairingTerms) -> [Action] {
        var exchange: any PairingExchange =
            terms.usesSecureConnections
            ? SecureConnectionsExchange(terms, &random)
            : LegacyExchange(terms, &random)
        let passkey = configuration.passkey ?? Int(random.below(1_000_000))
        let steps = exchange.start(passkey: passkey, &random)
        let answer = side == .peripheral ? send(.pairingResponse(terms.response)) : []
        return answer + perform(steps, terms, exchange)
    }

    mutating func perform(_ steps: [PairingStep], _ terms: PairingTerms, _ exchange: any PairingExchange) -> [Action] {
        phase = .authenticating(terms, exchange)
        var actions: [Action] = []
        for step in steps {
            switch step {
            case .send(let packet): actions += send(packet)
            case .ask(let question):
                openQuestion = question
                actions.append(.ask(question))
            case .finish(let key):
                phase = .encrypting(terms, key: key)
                if side == .central { actions.append(.startEncryption(key: key, random: 0, diversifier: 0)) }
            case .fail(let reason): actions += fail(reason)
            }
        }
        return actions
    }

    mutating func handleAnswer(_ answer: PairingAnswer) -> [Action] {
        guard let question = openQuestion else { return [] }
        // The number stays until the peer's user has entered it.
        if case .display = question { return answer == .reject ? fail(.passkeyEntryFailed) : [] }
        openQuestion = nil
        switch (question, answer, phase) {
        case (.consent, .accept, .consenting(let terms)): return authenticate(terms)
        case (.confirm, .accept, .authenticating(let terms, var exchange)):
            let steps = exchange.confirm()
            return perform(steps, terms, exchange)
        case (.enterPasskey, .passkey(let number), .authenticating(let terms, var exchange))
        where (0...999_999).contains(number):
            let steps = exchange.enter(passkey: number, &random)
            return perform(steps, terms, exchange)
        case (.confirm, _, _): return fail(.numericComparisonFailed)
        default: return fail(.passkeyEntryFailed)
        }
    }
}
