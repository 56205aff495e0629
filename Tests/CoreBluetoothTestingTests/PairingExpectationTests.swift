import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// An agent that accepts, or does not answer.
private final class Listener: CBPairingAgentDelegate, Sendable {
    let answers: Bool
    init(answers: Bool) { self.answers = answers }

    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) {
        if answers { request.accept() }
    }
}

/// Returns an agent of the process, with a separate queue.
private func agent(_ listener: Listener) -> CBPairingAgent {
    CBPairingAgent(capability: .displayYesNo, delegate: listener, queue: DispatchQueue(label: "agent"))
}

/// Adds a thermometer whose serial number needs a pairing, which the host's user must confirm.
private func addThermometer() throws {
    var device = PeripheralDescription.healthThermometer(temperature: 36.6, interval: 1)
    let number = CharacteristicDescription(
        "2A25", .read, value: Data("0001".utf8), permissions: .readEncryptionRequired)
    device.services.append(ServiceDescription("FFF0", characteristics: [number]))
    device.pairing = PairingDescription(capability: .displayYesNo)
    try Emulator.current.add(device)
}

/// Callbacks of a pairing agent, as a test expects them.
@Suite(.emulator(.instant)) struct PairingExpectationTests {
    @Test func aPairingIsExpectedStepByStep() async throws {
        try addThermometer()
        let listener = Listener(answers: true)
        let agent = agent(listener)
        let app = ThermometerApp()
        await Emulator.current.expect(.didReceivePairingRequest, .didPair, .didUpdateValue.of("2A25").succeeding)
        #expect(app.serialNumber == "0001")
        #expect(agent.delegate === listener)
        app.stop()
    }
}

@Suite struct PairingFailureTests {
    @Test func aQuestionThatTheAppDoesNotAnswerIsAFailure() async throws {
        let messages = try await IssueCollector.issues(world: WorldDescription()) {
            try addThermometer()
            let listener = Listener(answers: false)
            let agent = agent(listener)
            let app = ThermometerApp()
            await Emulator.current.expect(.didReceivePairingRequest)
            app.stop()
            withExtendedLifetime((agent, listener)) {}
        }
        #expect(messages.contains { $0.contains("unanswered: pairing question \"confirm\" of peer ") })
    }

    @Test func anAgentThatOutlivesItsTestIsALeak() async throws {
        let holder = AgentHolder()
        let messages = try await IssueCollector.issues {
            holder.agent = agent(Listener(answers: true))
        }
        #expect(messages.contains { $0.contains("leaked: <CBPairingAgent: displayYesNo>") })
        holder.agent = nil
    }
}

private final class AgentHolder: @unchecked Sendable {
    // Invariant: used by one test, one step after the other.
    var agent: CBPairingAgent?
}
