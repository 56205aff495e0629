/// The pairing part of a backend, for both roles: questions to the user come up, commands with the answers go down.
///
/// Until `activate` the backend answers like a device without input and output; `invalidate` rejects open requests.
///
/// Source: Core Specification, Vol 3, Part H; BlueZ `org.bluez.Agent1`.
public protocol PairingBackend: RoleBackend where Command == PairingCommand, Event == PairingEvent {}

/// A command for pairing.
public enum PairingCommand: Hashable, Sendable, Codable {
    /// Sets the input and output capability, which decides the method. BlueZ: `RegisterAgent`.
    case setCapability(PairingCapability)
    /// Pairs and bonds: `paired`. BlueZ: `Device1.Pair`.
    case pair(peer: PeerID, operation: OperationID)
    /// Removes the bond: `unpaired`. BlueZ: `Adapter1.RemoveDevice`.
    case unpair(peer: PeerID, operation: OperationID)
    /// Answers a request.
    case answer(request: PairingRequestID, answer: PairingAnswer)
}

/// An event of pairing.
public enum PairingEvent: Hashable, Sendable, Codable {
    /// A question for the user; stays open until answered or cancelled.
    case requested(request: PairingRequestID, peer: PeerID, question: PairingQuestion)
    /// The question is void: the peer gave up or the time ran out.
    case cancelled(request: PairingRequestID)
    /// A pairing has succeeded; `operation` is nil if a protected attribute or the peer started it.
    case paired(peer: PeerID, operation: OperationID?, isBonded: Bool)
    /// A pairing failed.
    indirect case pairingFailed(peer: PeerID, operation: OperationID?, error: BackendError)
    /// A bond is gone.
    case unpaired(peer: PeerID, operation: OperationID?)
}

/// The input and output capability of an app.
///
/// The cases have the order of their numbers in the Security Manager Protocol.
///
/// Source: Core Specification, Vol 3, Part H, 2.3.2.
public enum PairingCapability: String, Hashable, Sendable, Codable, CaseIterable {
    /// Shows six digits.
    case displayOnly
    /// Shows six digits and asks yes or no.
    case displayYesNo
    /// Input of six digits.
    case keyboardOnly
    /// Neither: Just Works.
    case noInputNoOutput
    /// Shows and asks for six digits.
    case keyboardDisplay
}

/// A question for the user.
public enum PairingQuestion: Hashable, Sendable, Codable {
    /// Asks whether to pair at all.
    case consent
    /// Asks whether the peer shows this number, 0...999999.
    case confirm(passkey: Int)
    /// Asks for the number that the peer shows.
    case enterPasskey
    /// Shows a number that the user types at the peer; it needs no answer.
    case display(passkey: Int)
    /// Asks for the peer's out-of-band data.
    case outOfBand

    /// The question without its number, which is a secret of the two users.
    package var kindName: String {
        switch self {
        case .consent: "consent"
        case .confirm: "confirm"
        case .enterPasskey: "enterPasskey"
        case .display: "display"
        case .outOfBand: "outOfBand"
        }
    }
}

/// The user's answer.
public enum PairingAnswer: Hashable, Sendable, Codable {
    /// The user agrees.
    case accept
    /// The user refuses.
    case reject
    /// The number that the peer shows, 0...999999.
    case passkey(Int)

    /// The answer without its number.
    package var kindName: String {
        switch self {
        case .accept: "accept"
        case .reject: "reject"
        case .passkey: "passkey"
        }
    }
}

extension PairingCommand {
    /// A command without its content; the case names of ``PairingCommand``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case setCapability, pair, unpair, answer
    }

    /// The kind of this command.
    public var kind: Kind {
        switch self {
        case .setCapability: .setCapability
        case .pair: .pair
        case .unpair: .unpair
        case .answer: .answer
        }
    }
}

extension PairingEvent {
    /// An event without its content; the case names of ``PairingEvent``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case requested, cancelled, paired, pairingFailed, unpaired
    }

    /// The kind of this event.
    public var kind: Kind {
        switch self {
        case .requested: .requested
        case .cancelled: .cancelled
        case .paired: .paired
        case .pairingFailed: .pairingFailed
        case .unpaired: .unpaired
        }
    }
}
