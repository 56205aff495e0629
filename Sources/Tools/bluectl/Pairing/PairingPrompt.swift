import AsyncBluetooth
import BluetoothSupport
import CoreBluetoothClasses

/// A prompt that asks the user at the terminal to answer the questions of pairings.
@MainActor
final class PairingPrompt {
    private let role: any CommandRole
    /// The one device that the user wants to pair with; nil for any device.
    private let peer: DeviceRecord?
    /// Whether every question that needs no number is answered with yes.
    private let saysYes: Bool
    private let input = LineInput()
    private var agent: CBPairingAgent?
    /// The limit of the pairing that the user began.
    private var timeout: PausableTimeout?
    private var asking: Task<Void, Never>?
    private var asked: CBPairingRequest?
    private var refused: Set<UUID> = []
    private var isBonded = false

    private init(_ role: any CommandRole, peer: DeviceRecord?, saysYes: Bool) {
        self.role = role
        self.peer = peer
        self.saysYes = saysYes
    }

    /// Pairs with one device; any other is refused meanwhile.
    ///
    /// The time limit of a step does not run while the user is asked.
    ///
    /// - Parameter saysYes: Whether every question that needs no number is answered with yes.
    /// - Returns: Whether both sides keep the keys.
    static func pair(_ peripheral: Peripheral, in role: CentralRole, saysYes: Bool) async throws -> Bool {
        let peer = DeviceRecord(peripheral)
        let prompt = PairingPrompt(role, peer: peer, saysYes: saysYes)
        let agent = prompt.makeAgent(.keyboardDisplay)
        defer { prompt.stop() }
        role.console.progress("Pairing with \(peer.label)…")
        let timeout = PausableTimeout(role.limit, "pairing")
        prompt.timeout = timeout
        do {
            try await timeout.run { try await agent.pair(peripheral) }
        } catch let error as BluetoothError {
            guard case .refused(let reason) = error.reason else { throw Failure(error) }
            throw Failure(.failed, "cannot pair: " + ErrorText.of(reason))
        }
        role.console.clearProgress()
        return prompt.isBonded
    }

    /// Answers centrals that pair with the published services, until `stop()`.
    ///
    /// - Parameter saysYes: Whether they pair without a question, as with a device without display and keyboard.
    static func serving(_ role: PeripheralRole, saysYes: Bool) -> PairingPrompt {
        let prompt = PairingPrompt(role, peer: nil, saysYes: saysYes)
        _ = prompt.makeAgent(saysYes ? .noInputNoOutput : .keyboardDisplay)
        return prompt
    }

    private func makeAgent(_ capability: CBPairingCapability) -> CBPairingAgent {
        let agent = CBPairingAgent(backend: role.backend, capability: capability, delegate: self, queue: .main)
        self.agent = agent
        return agent
    }

    /// Stops answering; open questions are refused.
    func stop() {
        agent = nil
        input.cancel()
    }

    // MARK: Questions

    private func answer(_ request: CBPairingRequest, about peer: DeviceRecord) async {
        guard request.isOpen else { return }
        asked = request
        defer { asked = nil }
        show(request.question, about: peer)
        switch request.question {
        case .display: break
        case .enterPasskey: await enter(request)
        case .consent, .confirm, .outOfBand:
            if saysYes { return request.accept() }
            timeout?.pause()
            let line = await input.next()
            if line == nil, self.peer == nil, request.isOpen {
                role.console.warn("refused, since the input has ended; --accept-pairing accepts without asking")
            }
            let answer = line?.trimmingCharacters(in: .whitespaces).lowercased()
            decide(request) { ["y", "yes"].contains(answer) ? $0.accept() : $0.reject() }
        }
    }

    private func enter(_ request: CBPairingRequest) async {
        timeout?.pause()
        while let line = await input.next() {
            let digits = line.filter { !$0.isWhitespace }
            if let passkey = PasskeyText.passkey(digits) {
                return decide(request) { $0.enter(passkey: passkey) }
            }
            role.console.warn("\"\(PrintableText.of(line))\" is not a passkey: a passkey has six digits")
        }
        decide(request) { $0.reject() }
    }

    private func decide(_ request: CBPairingRequest, _ decision: (CBPairingRequest) -> Void) {
        timeout?.restart()
        // The request may be void by now.
        if request.isOpen { decision(request) }
    }

    private func show(_ question: CBPairingRequest.Question, about peer: DeviceRecord) {
        let text = PairingText(question, about: peer)
        if role.console.isJSON {
            role.console.show(text.fields, [])
        } else if !saysYes || text.needsUser {
            role.console.warn(role.emulatedBackend == nil ? text.line : "EMULATED: " + text.line)
        }
    }

    /// Refuses another device that asks while the user pairs with this one: neither the user nor `--yes` agreed to
    /// that.
    private func refuse(_ request: CBPairingRequest) {
        request.reject()
        guard refused.count < 16, refused.insert(request.peerIdentifier).inserted else { return }
        role.console.warn("another device, \(request.peerIdentifier.uuidString), asked to pair and was refused")
    }
}

extension PairingPrompt: @preconcurrency CBPairingAgentDelegate {
    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) {
        let asker = peer ?? DeviceRecord(identifier: request.peerIdentifier)
        guard asker.identifier == request.peerIdentifier else { return refuse(request) }
        let before = asking
        asking = Task {
            await before?.value
            await answer(request, about: asker)
        }
    }

    func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest) {
        if asked === request { input.cancel() }
    }

    func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool) {
        if identifier == peer?.identifier { self.isBonded = isBonded }
    }
}

/// The question of a pairing, for people and as JSON.
struct PairingText {
    let fields: JSONFields
    let line: String
    /// Whether the user has to do something other than answer yes.
    let needsUser: Bool

    init(_ question: CBPairingRequest.Question, about peer: DeviceRecord) {
        let label = peer.label
        let (kind, passkey, text): (String, Int?, String)
        switch question {
        case .consent: (kind, passkey, text) = ("consent", nil, "Pair with \(label)? [y/N]")
        case .confirm(let number):
            (kind, passkey, text) = ("confirm", number, "Does \(label) show \(PasskeyText.digits(number))? [y/N]")
        case .enterPasskey: (kind, passkey, text) = ("enterPasskey", nil, "Which six digits does \(label) show?")
        case .display(let number):
            (kind, passkey, text) = ("display", number, "Enter \(PasskeyText.digits(number)) on \(label).")
        case .outOfBand:
            (kind, passkey, text) =
                ("outOfBand", nil, "Did you get the data of \(label) in another way, such as NFC? [y/N]")
        }
        fields = peer.identity.merging(["question": kind, "passkey": passkey.map(PasskeyText.digits)])
        line = text
        needsUser = ["enterPasskey", "display"].contains(kind)
    }
}

/// A time limit that does not run while the user is asked.
@MainActor
final class PausableTimeout {
    private let limit: Duration
    private let phrase: String
    private var timer: Task<Void, any Error>?
    private var work: Task<Void, any Error>?
    private var isOver = false

    /// - Parameter phrase: The action, for "timed out after 15 s …".
    init(_ limit: Duration, _ phrase: String) {
        self.limit = limit
        self.phrase = phrase
    }

    func run(_ body: @escaping @MainActor () async throws -> Void) async throws {
        let work = Task { try await body() }
        self.work = work
        restart()
        defer { pause() }
        do {
            try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch is CancellationError where isOver {
            throw Failure.timedOut(limit, phrase)
        }
    }

    func pause() {
        timer?.cancel()
        timer = nil
    }

    func restart() {
        pause()
        timer = Task { [limit] in
            try await Task.sleep(for: limit)
            isOver = true
            work?.cancel()
        }
    }
}
