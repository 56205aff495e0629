import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation
import LogCapture
import Synchronization
import Testing

@testable import CoreBluetoothClasses

/// An agent over a scripted pairing backend.
@Suite struct PairingAgentTests {
    /// A delegate that records its calls, and retains requests.
    private final class Listener: CBPairingAgentDelegate, Sendable {
        private let state = Lock((lines: [String](), requests: [CBPairingRequest]()))
        private let queue: DispatchQueue

        init(_ queue: DispatchQueue) { self.queue = queue }

        var lines: [String] { state.withLock { $0.lines } }
        var requests: [CBPairingRequest] { state.withLock { $0.requests } }

        private func log(_ line: String) {
            dispatchPrecondition(condition: .onQueue(queue))
            state.withLock { $0.lines.append(line) }
        }

        func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) {
            log("asked \(request.question)")
            state.withLock { $0.requests.append(request) }
        }

        func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest) {
            log("cancelled \(requests.contains { $0 === request })")
        }

        func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool) {
            log("paired \(isBonded)")
        }

        func pairingAgent(_ agent: CBPairingAgent, didFailToPairWith identifier: UUID, error: any Error) {
            log("failed \((error as? CBError)?.errorCode ?? -1)")
        }

        func pairingAgent(_ agent: CBPairingAgent, didUnpairFrom identifier: UUID) { log("unpaired") }
    }

    /// A delegate that implements nothing.
    private final class Silent: CBPairingAgentDelegate {}

    private let backend = ScriptedBackend()
    private let queue = DispatchQueue(label: "pairing")
    private let listener: Listener
    private let peer = MachineFixture.peer
    private let request = PairingRequestID(rawValue: 4)

    init() { listener = Listener(queue) }

    private var pairing: ScriptedPairing { backend.pairing }

    private func agent(
        _ capability: CBPairingCapability = .keyboardDisplay, delegate: (any CBPairingAgentDelegate)? = nil
    ) -> CBPairingAgent {
        CBPairingAgent(
            backend: .custom(backend), capability: capability, delegate: delegate ?? listener, queue: queue)
    }

    private func peripheral() -> CBPeripheral {
        CBCentralManager(backend: .custom(backend), delegate: nil, queue: queue).core.peripheral(peer, name: nil)
    }

    @Test(
        arguments: zip(
            CBPairingCapability.allCases,
            [.displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay] as [PairingCapability]))
    func theCapabilityIsReportedFirst(capability: CBPairingCapability, backend: PairingCapability) {
        let agent = agent(capability)
        #expect(pairing.commands == [.setCapability(backend)])
        #expect(agent.capability == capability)
    }

    @Test func withoutAnAgentNobodyListensToPairing() {
        _ = peripheral()
        #expect(pairing.commands.isEmpty)
    }

    @Test func aRequestIsAnsweredLaterFromAnyThread() async throws {
        let agent = agent()
        await pairing.play(.requested(request: request, peer: peer, question: .enterPasskey))
        #expect(listener.lines == ["asked enterPasskey"])
        let asked = try #require(listener.requests.first)
        #expect(asked.peerIdentifier == peer.uuid)
        #expect(asked.isOpen)
        await onThread { asked.enter(passkey: 123_456) }
        #expect(pairing.commands.last == .answer(request: request, answer: .passkey(123_456)))
        #expect(!asked.isOpen)
        withExtendedLifetime(agent) {}
    }

    @Test func anUnfitAnswerIsLoggedAndLeavesTheRequestOpen() async throws {
        LogCapture.start()
        let agent = agent()
        await pairing.play(.requested(request: request, peer: peer, question: .enterPasskey))
        let asked = try #require(listener.requests.first)
        asked.accept()
        #expect(asked.isOpen)
        #expect(pairing.commands.count == 1)
        #expect(!LogCapture.lines(containing: "\"accept\" does not fit the pairing question \"enterPasskey\"").isEmpty)
        asked.reject()
        #expect(pairing.commands.last == .answer(request: request, answer: .reject))
        withExtendedLifetime(agent) {}
    }

    @Test func theQuestionsCarryTheirNumbers() async {
        let agent = agent()
        let questions: [PairingQuestion] = [
            .consent, .confirm(passkey: 12), .enterPasskey, .display(passkey: 34), .outOfBand,
        ]
        for (number, question) in questions.enumerated() {
            await pairing.play(
                .requested(request: PairingRequestID(rawValue: UInt64(number)), peer: peer, question: question))
        }
        #expect(
            listener.requests.map(\.question)
                == [.consent, .confirm(passkey: 12), .enterPasskey, .display(passkey: 34), .outOfBand])
        #expect(!listener.requests.contains { "\($0)".contains("12") && !"\($0)".contains(peer.uuid.uuidString) })
        withExtendedLifetime(agent) {}
    }

    @Test func aCancelledRequestIsReportedWithItsObject() async throws {
        let agent = agent()
        await pairing.play(
            .requested(request: request, peer: peer, question: .consent), .cancelled(request: request))
        #expect(listener.lines.last == "cancelled true")
        let asked = try #require(listener.requests.first)
        #expect(!asked.isOpen)
        asked.accept()
        #expect(pairing.commands.count == 1)
        withExtendedLifetime(agent) {}
    }

    @Test func aDelegateThatDoesNotAnswerRequestsRejectsThem() async {
        let silent = Silent()
        let agent = agent(delegate: silent)
        await pairing.play(.requested(request: request, peer: peer, question: .consent))
        #expect(pairing.commands.last == .answer(request: request, answer: .reject))
        withExtendedLifetime((agent, silent)) {}
    }

    @Test func withoutADelegateRequestsAreRejected() async {
        let agent = agent()
        agent.delegate = nil
        await pairing.play(.requested(request: request, peer: peer, question: .consent))
        #expect(pairing.commands.last == .answer(request: request, answer: .reject))
    }

    @Test func pairingCompletesAndIsReported() async throws {
        let agent = agent()
        let results = Lock<[Int]>([])
        let peripheral = peripheral()
        agent.pair(peripheral) { error in results.withLock { $0.append((error as? CBError)?.errorCode ?? 0) } }
        let operation = try #require(pairing.lastOperation)
        #expect(pairing.commands.last == .pair(peer: peer, operation: operation))
        await pairing.play(.paired(peer: peer, operation: operation, isBonded: true))
        #expect(results.withLock { $0 } == [0])
        #expect(listener.lines == ["paired true"])
    }

    @Test func aFailedPairingCarriesACBError() async throws {
        let agent = agent()
        let results = Lock<[Int]>([])
        let peripheral = peripheral()
        agent.pair(peripheral) { error in results.withLock { $0.append((error as? CBError)?.errorCode ?? 0) } }
        await pairing.play(
            .pairingFailed(
                peer: peer, operation: pairing.lastOperation,
                error: BackendError(.peerRemovedPairingInformation, operation: "pair")))
        #expect(results.withLock { $0 } == [CBError.peerRemovedPairingInformation.rawValue])
        #expect(listener.lines == ["failed 14"])
    }

    @Test func unpairingCompletesAndIsReported() async throws {
        let agent = agent()
        let results = Lock<[Int]>([])
        let peripheral = peripheral()
        agent.unpair(peripheral) { error in results.withLock { $0.append((error as? CBError)?.errorCode ?? 0) } }
        await pairing.play(.unpaired(peer: peer, operation: pairing.lastOperation))
        #expect(results.withLock { $0 } == [0])
        #expect(listener.lines == ["unpaired"])
    }

    @Test func aReleasedAgentEndsItsCallsAndItsRequests() async throws {
        var agent: CBPairingAgent? = agent()
        await pairing.play(.requested(request: request, peer: peer, question: .consent))
        let asked = try #require(listener.requests.first)
        let peripheral = peripheral()
        let code = await withCheckedContinuation { continuation in
            agent?.pair(peripheral) { continuation.resume(returning: ($0 as? CBError)?.errorCode) }
            agent = nil
        }
        #expect(code == CBError.operationCancelled.rawValue)
        #expect(pairing.isInvalidated)
        #expect(!asked.isOpen)
        asked.accept()
        #expect(!pairing.commands.contains(.answer(request: request, answer: .accept)))
    }
}
