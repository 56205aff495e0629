import BluetoothBackend
public import Dispatch
public import Foundation

/// An object that answers the questions of pairings; Apple's systems show a dialog instead.
///
/// An agent is asked for consent, for comparison and for numbers, in both roles, about peers that the app needs to be
/// paired with. It can also begin a pairing or remove a bond. It works until it is released; open requests are then
/// rejected. All members may be called from any thread. An extension of this package.
///
/// For an app without an agent the system decides: <doc:Pairing>.
///
/// Source: Core Specification, Vol 3, Part H, 2.3; BlueZ, org.bluez.Agent1.
public final class CBPairingAgent: Sendable {
    /// The input and output capability of the app.
    public let capability: CBPairingCapability

    private let core: PairingCore

    /// Creates an agent for the selected backend.
    ///
    /// - Parameters:
    ///   - capability: The input and output capability of the app.
    ///   - delegate: The delegate; held weakly. Without one, requests are rejected.
    ///   - queue: The queue of all callbacks and completions; nil is the main queue.
    public convenience init(
        capability: CBPairingCapability, delegate: (any CBPairingAgentDelegate)?, queue: DispatchQueue? = nil
    ) {
        EnvironmentPairing.process?.programAnswers()
        self.init(on: BackendResolver.backend(), capability, delegate, queue)
    }

    /// Creates an agent for a backend that the app chooses.
    ///
    /// - Parameters:
    ///   - backend: The backend of the managers.
    ///   - capability: The input and output capability of the app.
    ///   - delegate: The delegate; held weakly. Without one, requests are rejected.
    ///   - queue: The queue of all callbacks and completions; nil is the main queue.
    public convenience init(
        backend: CBBackendSelection, capability: CBPairingCapability, delegate: (any CBPairingAgentDelegate)?,
        queue: DispatchQueue? = nil
    ) {
        EnvironmentPairing.process?.programAnswers()
        self.init(on: BackendResolver.backend(for: backend), capability, delegate, queue)
    }

    init(
        on backend: any BluetoothBackend, _ capability: CBPairingCapability,
        _ delegate: (any CBPairingAgentDelegate)?, _ queue: DispatchQueue?
    ) {
        self.capability = capability
        core = PairingCore(backend: backend, queue: queue ?? .main)
        core.activate(for: self, delegate)
    }

    deinit {
        core.invalidate()
    }

    /// The delegate, which answers questions and receives events.
    ///
    /// Weak; looked up at each delivery.
    public var delegate: (any CBPairingAgentDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// Pairs with a peer and bonds.
    ///
    /// A peer that is not connected is connected for the pairing. Calls for a peer that is being paired share that
    /// pairing.
    ///
    /// - Parameters:
    ///   - peer: A `CBPeripheral` or a `CBCentral`.
    ///   - completion: Called once, on the agent's queue, with nil or a `CBError` or `CBATTError`:
    ///     `operationCancelled` if the agent was released meanwhile, `connectionFailed` if the peer does not answer
    ///     within 20 seconds.
    public func pair(_ peer: CBPeer, completion: @escaping @Sendable ((any Error)?) -> Void) {
        let id = PeerID(peer.identifier)
        core.call(completion) { $0.pair(id) }
    }

    /// Forgets the bond with a peer.
    ///
    /// - Parameters:
    ///   - peer: A `CBPeripheral` or a `CBCentral`.
    ///   - completion: As of ``pair(_:completion:)``.
    public func unpair(_ peer: CBPeer, completion: @escaping @Sendable ((any Error)?) -> Void) {
        let id = PeerID(peer.identifier)
        core.call(completion) { $0.unpair(id) }
    }
}

/// The input and output capability of an app; this and the peer's decide how a pairing is secured.
///
/// An extension of this package. Source: Core Specification, Vol 3, Part H, 2.3.2.
public enum CBPairingCapability: Sendable, Hashable, CaseIterable {
    /// Shows six digits.
    case displayOnly
    /// Shows six digits and asks yes or no.
    case displayYesNo
    /// Input of six digits.
    case keyboardOnly
    /// Neither: Just Works, without protection from a third party that listens and speaks.
    case noInputNoOutput
    /// Shows and asks for six digits.
    case keyboardDisplay

    var backendCapability: PairingCapability {
        switch self {
        case .displayOnly: .displayOnly
        case .displayYesNo: .displayYesNo
        case .keyboardOnly: .keyboardOnly
        case .noInputNoOutput: .noInputNoOutput
        case .keyboardDisplay: .keyboardDisplay
        }
    }
}

/// Answers the questions of pairings.
///
/// Called on the agent's queue, one call at a time. An extension of this package.
public protocol CBPairingAgentDelegate: AnyObject {
    /// A pairing asks something; answer the request, now or later.
    ///
    /// It may come from ``CBPairingAgent/pair(_:completion:)``, from the peer, or from a protected attribute. Without
    /// this method requests are rejected.
    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest)

    /// A question became void before it was answered: the peer gave up, or time ran out.
    func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest)

    /// A pairing is complete, whichever side began it.
    ///
    /// - Parameters:
    ///   - agent: The agent.
    ///   - identifier: The identifier of the peer.
    ///   - isBonded: Whether both keep the keys, so that the next connection needs no pairing.
    func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool)

    /// A pairing failed, whichever side began it: with a `CBError` or a `CBATTError`.
    func pairingAgent(_ agent: CBPairingAgent, didFailToPairWith identifier: UUID, error: any Error)

    /// A bond was removed, by either side.
    func pairingAgent(_ agent: CBPairingAgent, didUnpairFrom identifier: UUID)
}

extension CBPairingAgentDelegate {
    /// Rejects the request.
    public func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) { request.reject() }
    /// Does nothing.
    public func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest) {}
    /// Does nothing.
    public func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool) {}
    /// Does nothing.
    public func pairingAgent(
        _ agent: CBPairingAgent, didFailToPairWith identifier: UUID, error: any Error
    ) {}
    /// Does nothing.
    public func pairingAgent(_ agent: CBPairingAgent, didUnpairFrom identifier: UUID) {}
}
