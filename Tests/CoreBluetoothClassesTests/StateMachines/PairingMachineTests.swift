import BluetoothBackend
import Testing

@testable import CoreBluetoothClasses

@Suite struct PairingMachineTests {
    private let peer = MachineFixture.peer
    private let other = MachineFixture.other
    private let request = PairingRequestID(rawValue: 3)
    private let refusal = BackendError(.encryptionTimedOut, operation: "pair")

    private func asked(_ question: PairingQuestion) -> PairingMachine {
        var machine = PairingMachine()
        _ = machine.handle(.requested(request: request, peer: peer, question: question))
        return machine
    }

    @Test func aQuestionIsAnsweredOnce() {
        var machine = asked(.consent)
        #expect(machine.isOpen(request))
        #expect(machine.answer(request, .accept) == [.submit(.answer(request: request, answer: .accept))])
        #expect(!machine.isOpen(request))
        #expect(machine.answer(request, .accept) == [.misuse(.requestIsOver(request))])
    }

    @Test(
        arguments: [
            (.consent, .passkey(1)), (.confirm(passkey: 1), .passkey(1)), (.outOfBand, .passkey(1)),
            (.enterPasskey, .accept), (.display(passkey: 1), .accept), (.display(passkey: 1), .passkey(1)),
            (.enterPasskey, .passkey(-1)), (.enterPasskey, .passkey(1_000_000)),
        ] as [(PairingQuestion, PairingAnswer)])
    func anAnswerThatDoesNotFitLeavesTheQuestionOpen(question: PairingQuestion, answer: PairingAnswer) {
        var machine = asked(question)
        #expect(machine.answer(request, answer) == [.misuse(.answerDoesNotFit(question, answer))])
        #expect(machine.isOpen(request))
    }

    @Test(
        arguments: [
            (.consent, .accept), (.confirm(passkey: 1), .accept), (.outOfBand, .accept), (.enterPasskey, .passkey(0)),
            (.enterPasskey, .passkey(999_999)), (.consent, .reject), (.confirm(passkey: 1), .reject),
            (.enterPasskey, .reject), (.display(passkey: 1), .reject), (.outOfBand, .reject),
        ] as [(PairingQuestion, PairingAnswer)])
    func everyQuestionTakesItsAnswers(question: PairingQuestion, answer: PairingAnswer) {
        var machine = asked(question)
        #expect(machine.answer(request, answer) == [.submit(.answer(request: request, answer: answer))])
    }

    @Test func aCancelledQuestionIsVoid() {
        var machine = asked(.consent)
        #expect(machine.handle(.cancelled(request: request)) == [.callback(.cancelled(request))])
        #expect(machine.handle(.cancelled(request: request)) == [])
        #expect(machine.answer(request, .accept) == [.misuse(.requestIsOver(request))])
    }

    @Test func anAnswerThatCrossesTheCancellationIsNotCancelled() {
        var machine = asked(.consent)
        _ = machine.answer(request, .accept)
        #expect(machine.handle(.cancelled(request: request)) == [])
    }

    @Test func aPairingFinishesItsCallAndVoidsItsQuestions() {
        var machine = asked(.display(passkey: 7))
        let (operation, effects) = machine.pair(peer)
        #expect(effects == [.submit(.pair(peer: peer, operation: operation))])
        #expect(
            machine.handle(.paired(peer: peer, operation: operation, isBonded: true)) == [
                .callback(.forgotten([request])), .callback(.finished(operation, nil)),
                .callback(.paired(peer, isBonded: true)),
            ])
        #expect(!machine.isOpen(request))
    }

    @Test(arguments: [nil, BackendError(.encryptionTimedOut, operation: "pair")])
    func aSecondCallForAPeerJoinsThePairingUnderWay(error: BackendError?) {
        var machine = PairingMachine()
        let (first, _) = machine.pair(peer)
        let (second, effects) = machine.pair(peer)
        #expect(effects.isEmpty)
        let (third, _) = machine.pair(other)
        let end = error.map { PairingEvent.pairingFailed(peer: peer, operation: first, error: $0) }
        #expect(
            machine.handle(end ?? .paired(peer: peer, operation: first, isBonded: true)) == [
                .callback(.finished(first, error)), .callback(.finished(second, error)),
                .callback(error.map { .failed(peer, $0) } ?? .paired(peer, isBonded: true)),
            ])
        #expect(machine.calls.keys.map { $0 } == [third])
        let (fourth, again) = machine.pair(peer)
        #expect(again == [.submit(.pair(peer: peer, operation: fourth))])
    }

    @Test func thePeersPairingFinishesNoCall() {
        var machine = PairingMachine()
        let (operation, _) = machine.pair(peer)
        #expect(
            machine.handle(.paired(peer: other, operation: nil, isBonded: false))
                == [.callback(.paired(other, isBonded: false))])
        #expect(
            machine.handle(.pairingFailed(peer: peer, operation: operation, error: refusal))
                == [.callback(.finished(operation, refusal)), .callback(.failed(peer, refusal))])
    }

    @Test func anotherPeersQuestionSurvivesAPairing() {
        var machine = asked(.consent)
        _ = machine.handle(.paired(peer: other, operation: nil, isBonded: true))
        #expect(machine.isOpen(request))
    }

    @Test func aFailedUnpairingIsNoFailedPairing() {
        var machine = asked(.consent)
        let (operation, effects) = machine.unpair(peer)
        #expect(effects == [.submit(.unpair(peer: peer, operation: operation))])
        #expect(
            machine.handle(.pairingFailed(peer: peer, operation: operation, error: refusal))
                == [.callback(.finished(operation, refusal))])
        #expect(machine.isOpen(request))
    }

    @Test func anUnpairingIsReportedWhoeverAskedForIt() {
        var machine = PairingMachine()
        let (operation, _) = machine.unpair(peer)
        #expect(
            machine.handle(.unpaired(peer: peer, operation: operation))
                == [.callback(.finished(operation, nil)), .callback(.unpaired(peer))])
        #expect(machine.handle(.unpaired(peer: peer, operation: nil)) == [.callback(.unpaired(peer))])
    }

    @Test func aSecondAnswerOfTheBackendFinishesNothing() {
        var machine = PairingMachine()
        let (operation, _) = machine.unpair(peer)
        _ = machine.handle(.unpaired(peer: peer, operation: operation))
        #expect(
            machine.handle(.unpaired(peer: peer, operation: operation)) == [.callback(.unpaired(peer))])
    }
}
