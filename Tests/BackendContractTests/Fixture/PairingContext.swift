import CoreBluetooth
import Testing

/// A pairing agent in a scenario: it receives questions, and the scenario answers them.
final class PairingContext: ContractParticipant {
    let agent: CBPairingAgent
    let queue: DispatchQueue

    init(_ run: ScenarioRun, _ capability: CBPairingCapability) {
        let trace = ContractTrace()
        queue = DispatchQueue(label: "contract agent \(run.name)")
        agent = CBPairingAgent(
            backend: run.fixture.backend, capability: capability, delegate: trace,
            queue: queue)
        super.init(run, trace)
    }

    /// The last question.
    var request: CBPairingRequest {
        get throws { try #require(trace.pairingRequests.last) }
    }

    /// The displayed number.
    var passkey: Int {
        get throws {
            switch try request.question {
            case .display(let passkey), .confirm(let passkey): passkey
            case .consent, .enterPasskey, .outOfBand: throw ContractTimeout()
            }
        }
    }

    /// Consents to a pairing.
    func accept(at location: SourceLocation = #_sourceLocation) async throws {
        try await expect(.asks(.consent), at: location)
        try request.accept()
        try await expect(.paired, at: location)
    }

    /// Consents to pairings as soon as the agent is asked.
    func acceptAtOnce() { trace.change { $0.consentsAtOnce = true } }

    /// Refuses a pairing; its failure is expected afterwards.
    func reject(at location: SourceLocation = #_sourceLocation) async throws {
        try await expect(.asks(.consent), at: location)
        try request.reject()
    }

    /// Types the number that the peer shows.
    func enter(passkey: Int, at location: SourceLocation = #_sourceLocation) async throws {
        try await expect(.asks(.enterPasskey), at: location)
        try request.enter(passkey: passkey)
    }
}
