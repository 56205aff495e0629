import BluetoothBackend
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothClasses

/// The pairings that `COREBLUETOOTH_PAIRING` agrees to, and those that it refuses.
@Suite struct EnvironmentPairingTests {
    private let backend = ScriptedBackend()
    private let queue = DispatchQueue(label: "environment")
    private let peer = MachineFixture.peer
    private let stranger = PeerID(UUID())
    private let request = PairingRequestID(rawValue: 4)

    private var pairing: ScriptedPairing { backend.pairing }

    // MARK: The variable

    @Test(arguments: [
        ("just-works", true, nil, false), ("passkey=000042", false, 42, false),
        ("just-works,incoming", true, nil, true), ("incoming,passkey=999999,just-works", true, 999_999, true),
    ])
    func wordsNameWhatIsAgreedTo(text: String, acceptsJustWorks: Bool, passkey: Int?, includesIncoming: Bool) throws {
        let consent = try #require(PairingConsent(text))
        #expect(consent.acceptsJustWorks == acceptsJustWorks && consent.passkey == passkey)
        #expect(consent.includesIncoming == includesIncoming)
        #expect(consent.capability == (passkey == nil ? .noInputNoOutput : .keyboardOnly))
        #expect(consent.description.contains("centrals") == includesIncoming)
        #expect(!consent.description.contains("42") && !consent.description.contains("999999"))
    }

    @Test(arguments: [
        "1", "yes", "true", "incoming", "Just-Works", "just-works,", ",just-works", "just-works just-works",
        "just-works,just-works", "passkey=12345", "passkey=1234567", "passkey=+12345", "passkey=١٢٣٤٥٦", "passkey=",
        "passkey=111111,passkey=222222", "just-works,all", " just-works",
    ])
    func anythingElseAgreesToNothing(text: String) { #expect(PairingConsent(text) == nil) }

    @Test func consentIsInTheLogAndASecretIsNot() {
        LogCapture.start()
        #expect(EnvironmentPairing(nil) == nil && EnvironmentPairing("") == nil)
        #expect(EnvironmentPairing("passkey=246802") != nil && EnvironmentPairing("passkey=24680") == nil)
        let lines = LogCapture.lines(containing: "COREBLUETOOTH_PAIRING")
        #expect(lines.contains { $0.hasPrefix("CoreBluetooth warning") && $0.contains("pairs unasked") })
        #expect(lines.contains { $0.hasPrefix("CoreBluetooth error") && $0.contains("agrees to nothing") })
        #expect(!lines.contains { $0.contains("24680") })
    }

    // MARK: Answers

    private static let questions: [PairingQuestion] = [
        .consent, .enterPasskey, .confirm(passkey: 1), .display(passkey: 1), .outOfBand,
    ]

    /// Returns the answer to a question about the peer that the program connects to, or about another one.
    private func answer(_ question: PairingQuestion, _ text: String, isStranger: Bool) async throws -> PairingAnswer {
        let environment = try #require(EnvironmentPairing(text))
        let agent = try #require(environment.agent(on: backend))
        let manager = CBCentralManager(backend: .custom(backend), delegate: nil, queue: queue)
        environment.add(manager.core)
        let peripheral = manager.core.peripheral(peer, name: nil)
        await backend.centrals[0].play(.stateChanged(.poweredOn))
        manager.connect(peripheral)
        await pairing.play(.requested(request: request, peer: isStranger ? stranger : peer, question: question))
        guard case .answer(request, let answer)? = pairing.commands.last else { throw CancellationError() }
        withExtendedLifetime((peripheral, agent)) {}
        return answer
    }

    @Test(arguments: questions, [true, false])
    func withoutTheWordForItAQuestionIsRejected(question: PairingQuestion, isStranger: Bool) async throws {
        let isAgreed = question == .consent && !isStranger
        let answer = try await answer(question, "just-works", isStranger: isStranger)
        #expect(answer == (isAgreed ? .accept : .reject))
    }

    @Test(arguments: questions, [true, false])
    func aPasskeyIsEnteredAndNothingElseIsAgreedTo(question: PairingQuestion, isStranger: Bool) async throws {
        let isAgreed = question == .enterPasskey && !isStranger
        let answer = try await answer(question, "passkey=004711", isStranger: isStranger)
        #expect(answer == (isAgreed ? .passkey(4711) : .reject))
    }

    @Test(arguments: questions)
    func incomingPairingsAreAgreedToWhereTheWordSaysSo(question: PairingQuestion) async throws {
        let answer = try await answer(question, "passkey=004711,just-works,incoming", isStranger: true)
        let expected: [PairingQuestion: PairingAnswer] = [.consent: .accept, .enterPasskey: .passkey(4711)]
        #expect(answer == expected[question] ?? .reject)
    }

    @Test func aDeviceThatTheProgramNoLongerConnectsToIsAStranger() async throws {
        let environment = try #require(EnvironmentPairing("just-works"))
        let agent = try #require(environment.agent(on: backend))
        let manager = CBCentralManager(backend: .custom(backend), delegate: nil, queue: queue)
        environment.add(manager.core)
        let peripheral = manager.core.peripheral(peer, name: nil)
        await backend.centrals[0].play(.stateChanged(.poweredOn))
        manager.connect(peripheral)
        manager.cancelPeripheralConnection(peripheral)
        await pairing.play(.requested(request: request, peer: peer, question: .consent))
        #expect(pairing.commands.last == .answer(request: request, answer: .reject))
        withExtendedLifetime((peripheral, agent)) {}
    }

    // MARK: Its life

    @Test func anAgentLivesAsLongAsItsManager() throws {
        let environment = try #require(EnvironmentPairing("just-works"))
        var agent = environment.agent(on: backend)
        #expect(agent != nil && pairing.commands == [.setCapability(.noInputNoOutput)] && !pairing.isInvalidated)
        agent = nil
        #expect(pairing.isInvalidated)
    }

    @Test func anAgentOfTheProgramAnswersInstead() throws {
        let environment = try #require(EnvironmentPairing("just-works"))
        let agent = try #require(environment.agent(on: backend))
        environment.programAnswers()
        #expect(pairing.isInvalidated)
        #expect(environment.agent(on: backend) == nil)
        withExtendedLifetime(agent) {}
    }
}
