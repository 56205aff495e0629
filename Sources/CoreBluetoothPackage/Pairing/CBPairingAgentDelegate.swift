public import Foundation

/// Who answers what pairings ask.
///
/// Called on the agent's queue, one call at a time. An extension of this package.
public protocol CBPairingAgentDelegate: AnyObject {
    /// A pairing asks something; answer the request, now or later.
    ///
    /// It may come from ``CBPairingAgent/pair(_:completion:)``, from the peer, or from a protected attribute. Without
    /// this method requests are rejected.
    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest)

    /// A question is void before it was answered: the peer gave up, or time ran out.
    func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest)

    /// A pairing is done, whoever began it.
    ///
    /// - Parameters:
    ///   - agent: The agent.
    ///   - identifier: The peer's.
    ///   - isBonded: Whether both keep the keys, so that the next connection needs no pairing.
    func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool)

    /// A pairing failed, whoever began it: with a `CBError` or a `CBATTError`.
    func pairingAgent(_ agent: CBPairingAgent, didFailToPairWith identifier: UUID, error: any Error)

    /// A bond is gone, whoever removed it.
    func pairingAgent(_ agent: CBPairingAgent, didUnpairFrom identifier: UUID)
}

extension CBPairingAgentDelegate {
    /// Rejects.
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
