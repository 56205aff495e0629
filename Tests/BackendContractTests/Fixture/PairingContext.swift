import CoreBluetooth
import Testing

/// A pairing agent in a scenario: it receives questions, and the scenario answers them.
final class PairingContext: ContractParticipant {
    let agent: CBPairingAgent

    init(_ run: ScenarioRun, _ capability: CBPairingCapability) {
        let trace = ContractTrace()
        agent = run.fixture.makePairingAgent(
            capability, delegate: trace, queue: DispatchQueue(label: "contract agent \(run.name)"))
        super.init(run, trace)
    }

    /// The last question.
    var request: CBPairingRequest {
        get throws { try #require(trace.pairingRequests.last) }
    }

    /// The number that is shown.
    var passkey: Int {
        get throws {
            switch try request.question {
            case .display(let passkey), .confirm(let passkey): passkey
            case .consent, .enterPasskey, .outOfBand: throw ContractTimeout()
            }
        }
    }

    /// Consents to a pairing.
    func accept(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await expect(.asks(.consent), sourceLocation: sourceLocation)
        try request.accept()
        try await expect(.paired, sourceLocation: sourceLocation)
    }

    /// Refuses a pairing, whose failure is expected afterwards.
    func reject(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await expect(.asks(.consent), sourceLocation: sourceLocation)
        try request.reject()
    }

    /// Types the number that the peer shows.
    func enter(passkey: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await expect(.asks(.enterPasskey), sourceLocation: sourceLocation)
        try request.enter(passkey: passkey)
    }
}
