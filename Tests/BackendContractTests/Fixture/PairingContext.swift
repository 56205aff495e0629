import CoreBluetooth
import Testing

/// A pairing agent in a scenario: it is asked, and answers as the scenario says.
final class PairingContext: ContractParticipant {
    let agent: CBPairingAgent

    init(
        _ fixture: any ContractFixture, scenario: String, differences: [String: [String]],
        _ capability: CBPairingCapability
    ) {
        let trace = ContractTrace()
        agent = fixture.makePairingAgent(
            capability, delegate: trace, queue: DispatchQueue(label: "contract agent \(scenario)"))
        super.init(fixture, scenario: scenario, differences: differences, trace: trace)
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
}
