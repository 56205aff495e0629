import CoreBluetoothPackage

/// Answers what a pairing asks, by the user at the terminal.
@MainActor
final class PairingPrompt {
    private let session: Session
    /// Whether yes is the answer to all that needs no number.
    private let saysYes: Bool
    private let input = LineInput()
    private var agent: CBPairingAgent?
    private var asking: Task<Void, Never>?
    private var asked: CBPairingRequest?
    private var name = ""
    private var isBonded = false

    /// A prompt for the radio of a session.
    ///
    /// - Parameter saysYes: Whether yes is the answer to all that needs no number.
    init(_ session: Session, saysYes: Bool) {
        self.session = session
        self.saysYes = saysYes
    }

    /// Pairs.
    ///
    /// The time that a step may take does not run while the user is asked.
    ///
    /// - Returns: Whether both sides keep the keys.
    func pair(_ peripheral: CBPeripheral) async throws -> Bool {
        name = PrintableText.of(peripheral.name ?? peripheral.identifier.uuidString)
        let agent = CBPairingAgent(
            backend: session.radio, capability: .keyboardDisplay, delegate: self, queue: .main)
        self.agent = agent
        defer {
            self.agent = nil
            input.cancel()
        }
        session.console.progress("Pairing with \(name)…")
        try await session.perform(.pairing) {
            agent.pair(peripheral) { [session] error in
                let failure = error.map { Failure(.failed, "cannot pair: " + ErrorText.of($0)) }
                MainActor.assumeIsolated { session.answer(.pairing, error: failure) }
            }
        }
        session.console.clearProgress()
        return isBonded
    }

    // MARK: Questions

    private func answer(_ request: CBPairingRequest) async {
        guard request.isOpen else { return }
        asked = request
        defer { asked = nil }
        show(request.question)
        switch request.question {
        case .display: break
        case .enterPasskey: await enter(request)
        case .consent, .confirm, .outOfBand:
            if saysYes { return request.accept() }
            session.steps.stopTimer()
            let answer = await input.next()?.trimmingCharacters(in: .whitespaces).lowercased()
            decide(request, ["y", "yes"].contains(answer) ? .accept : .reject)
        }
    }

    private func enter(_ request: CBPairingRequest) async {
        session.steps.stopTimer()
        while let line = await input.next() {
            let digits = line.filter { !$0.isWhitespace }
            if let passkey = Int(digits), digits.count <= 6, (0...999_999).contains(passkey) {
                return decide(request, .passkey(passkey))
            }
            session.console.note("\"\(PrintableText.of(line))\" is not a passkey: six digits are wanted")
        }
        decide(request, .reject)
    }

    private enum Decision { case accept, reject, passkey(Int) }

    private func decide(_ request: CBPairingRequest, _ decision: Decision) {
        if session.isAwaiting(.pairing) { session.steps.restartTimer() }
        // It may be void by now.
        guard request.isOpen else { return }
        switch decision {
        case .accept: request.accept()
        case .reject: request.reject()
        case .passkey(let passkey): request.enter(passkey: passkey)
        }
    }

    private func show(_ question: CBPairingRequest.Question) {
        let text = PairingText(question, name: name)
        if session.console.isJSON {
            session.console.print(json: text.record)
        } else if !saysYes || text.needsUser {
            session.console.note(text.line)
        }
    }
}

extension PairingPrompt: @preconcurrency CBPairingAgentDelegate {
    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) {
        let before = asking
        asking = Task {
            await before?.value
            await answer(request)
        }
    }

    func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest) {
        if asked === request { input.cancel() }
    }

    func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool) {
        self.isBonded = isBonded
    }
}
