import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation
import Logging

/// Pairing according to `COREBLUETOOTH_PAIRING`, for a program that has no ``CBPairingAgent``.
///
/// Each manager retains an agent on its backend, and all of them answer alike. When the program creates a pairing
/// agent, that agent answers everything, and these agents end.
final class EnvironmentPairing: CBPairingAgentDelegate, Sendable {
    /// The agent of one manager.
    final class Agent: Sendable {
        private let agent: Lock<CBPairingAgent?>

        fileprivate init(_ agent: CBPairingAgent) { self.agent = Lock(agent) }

        /// Stops answering; open questions are rejected.
        fileprivate func end() {
            let ended = agent.withLock { $0.take() }
            withExtendedLifetime(ended) {}
        }
    }

    private struct Weak<Object: AnyObject & Sendable>: Sendable {
        weak var object: Object?
    }

    private struct State {
        var agents: [Weak<Agent>] = []
        /// The central managers of the program, which show whether a question is about a peer that the program connects
        /// to.
        var centrals: [Weak<CentralCore>] = []
        /// Whether the program has made an agent.
        var isOver = false
        /// The peers that were refused last; the log names each once.
        var refused = LRUCache<UUID, Bool>(limit: 64)
    }

    static let variable = "COREBLUETOOTH_PAIRING"

    /// The object of the process; nil if the environment agrees to nothing.
    ///
    /// Created and logged with the first manager.
    static let process = EnvironmentPairing(ProcessInfo.processInfo.environment[variable])

    private let consent: PairingConsent
    private let queue = DispatchQueue(label: "CoreBluetooth.pairing")
    private let state = Lock(State())

    /// Reads the value of the variable; nil if it agrees to nothing.
    init?(_ text: String?) {
        guard let text, !text.isEmpty else { return nil }
        // The value may contain a secret.
        guard let consent = PairingConsent(text) else {
            Self.logger.line(.error, "\(Self.variable) agrees to nothing: its words are \(PairingConsent.syntax)")
            return nil
        }
        self.consent = consent
        Self.logger.line(.warning, "\(Self.variable) is set: \(consent)")
    }

    private static var logger: Logger { Logger(label: "CoreBluetooth") }

    // MARK: Managers

    /// Returns an agent for a manager of a backend; nil if the program has an agent.
    func agent(on backend: any BluetoothBackend) -> Agent? {
        guard !state.withLock(\.isOver) else { return nil }
        let agent = Agent(CBPairingAgent(on: backend, consent.capability, self, queue))
        let isOver = state.withLock { state in
            state.agents.removeAll { $0.object == nil }
            state.agents.append(Weak(object: agent))
            return state.isOver
        }
        return isOver ? nil : agent
    }

    /// Adds a central manager, before it connects to anything.
    func add(_ core: CentralCore) {
        state.withLock { state in
            state.centrals.removeAll { $0.object == nil }
            state.centrals.append(Weak(object: core))
        }
    }

    /// Ends these agents, because the program created one, which answers everything from now on.
    func programAnswers() {
        let (agents, isNew) = state.withLock { state in
            defer { (state.agents, state.isOver) = ([], true) }
            return (state.agents.compactMap(\.object), !state.isOver)
        }
        for agent in agents { agent.end() }
        if isNew { Self.logger.line(.notice, "\(Self.variable) no longer counts: the program has a CBPairingAgent") }
    }

    /// Whether the program connects, or is connected, to a peer.
    private func isConnecting(to peer: UUID) -> Bool {
        let centrals = state.withLock { $0.centrals.compactMap(\.object) }
        return centrals.contains { core in
            core.peripheral(PeerID(peer)).map { $0.state != .disconnected } ?? false
        }
    }

    // MARK: CBPairingAgentDelegate

    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) {
        let peer = request.peerIdentifier
        switch consent.answer(to: request.question, isIncoming: !isConnecting(to: peer)) {
        case .accept:
            Self.logger.line(.notice, "pairing with \(peer) is accepted unasked, as \(Self.variable) says")
            request.accept()
        case .passkey(let number):
            Self.logger.line(.notice, "pairing with \(peer) receives the passkey of \(Self.variable)")
            request.enter(passkey: number)
        case .reject:
            logRefusal(request)
            request.reject()
        }
    }

    private func logRefusal(_ request: CBPairingRequest) {
        let peer = request.peerIdentifier
        let isNew = state.withLock { state in
            defer { state.refused.insert(true, for: peer) }
            return state.refused[peer] == nil
        }
        guard isNew else { return }
        Self.logger.line(
            .warning,
            "\(peer) asked to pair (\(request.kindName)) and was refused: \(Self.variable) does not agree to that")
    }
}
