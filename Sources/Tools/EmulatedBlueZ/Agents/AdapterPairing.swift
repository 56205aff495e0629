#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The questions of an adapter's pairings, which agents answer.
struct AdapterPairing: Sendable {
    struct Question: Sendable {
        let peer: PeerID
        let kind: PairingQuestion
        /// The agent that is asked; nil if the daemon answers itself.
        let agent: Agents.Agent
    }

    let adapter: Int
    /// The questions that agents have not answered.
    private var questions: [PairingRequestID: Question] = [:]
    /// The devices whose pairing this side refused.
    private var refused: Set<PeerID> = []

    init(adapter: Int) { self.adapter = adapter }

    /// - Returns: Whether this side refused the pairing with a device that has failed.
    mutating func takeRefusal(of peer: PeerID) -> Bool { refused.remove(peer) != nil }

    // MARK: Questions

    /// - Parameter device: The device; nil if it is unknown.
    mutating func ask(
        _ question: PairingQuestion, _ request: PairingRequestID, of device: DaemonDevice?, isPairable: Bool,
        _ context: inout DaemonContext
    ) {
        guard let device else { return answer(request, .reject, &context) }
        let caller = device.security.pairing.flatMap { context.agents.agent(of: $0.sender) }
        guard device.security.pairing != nil || isPairable || device.connection.link != nil else {
            return answer(request, .reject, &context)
        }
        guard let agent = caller ?? context.agents.default else {
            guard let automatic = Self.answerWithoutAgent(to: question, context.configuration) else { return }
            if automatic == .reject { refused.insert(device.peer) }
            return answer(request, automatic, &context)
        }
        // A client that calls `Pair` thereby agrees to Just Works: an agent must exist, but is not asked.
        guard question != .outOfBand, question != .consent || device.security.pairing == nil else {
            return answer(request, .accept, &context)
        }
        questions[request] = Question(peer: device.peer, kind: question, agent: agent)
        let path = DBusValue.objectPath(device.path)
        let (member, arguments): (String, [DBusValue]) =
            switch question {
            case .confirm(let passkey): ("RequestConfirmation", [path, .uint32(UInt32(passkey))])
            case .enterPasskey: ("RequestPasskey", [path])
            case .display(let passkey): ("DisplayPasskey", [path, .uint32(UInt32(passkey)), .uint16(0)])
            case .consent, .outOfBand: ("RequestAuthorization", [path])
            }
        context.request(.agent(adapter: adapter, request), of: agent.object, Agents.interface, member, arguments)
    }

    private func answer(_ request: PairingRequestID, _ answer: PairingAnswer, _ context: inout DaemonContext) {
        context.output(.pairing(adapter: adapter, .answer(request: request, answer: answer)))
    }

    /// The answer without an agent: a rejection if the configuration has no passkey; nil if the device is to answer.
    ///
    /// Since Linux 5.6 the kernel requires confirmation even of Just Works, for which `bluetoothd` needs an agent.
    ///
    /// Source: Linux, `net/bluetooth/smp.c`, `smp_cmd_pairing_random`; BlueZ, `src/device.c`, `device_confirm_passkey`.
    private static func answerWithoutAgent(
        to question: PairingQuestion, _ configuration: EmulatedBlueZConfiguration
    ) -> PairingAnswer? {
        guard let passkey = configuration.passkey else { return .reject }
        switch question {
        case .enterPasskey: return .passkey(passkey)
        case .display: return nil
        case .consent, .confirm, .outOfBand: return .accept
        }
    }

    /// Handles the answer of an agent.
    mutating func agentReplied(
        _ request: PairingRequestID, _ result: Result<[DBusValue], DBusError>, _ context: inout DaemonContext
    ) {
        guard let asked = questions[request] else { return }
        switch (asked.kind, result) {
        case (.display, .success): break  // displayed until the pairing is over
        case (.enterPasskey, .success(let values)):
            guard let passkey = values.first?.uint32Value, passkey < 1_000_000 else {
                return reject(request, &context)
            }
            questions[request] = nil
            answer(request, .passkey(Int(passkey)), &context)
        case (_, .success):
            questions[request] = nil
            answer(request, .accept, &context)
        case (_, .failure(let error)):
            if error.name == DBusError.Name.noReply { cancel(asked, &context) }
            reject(request, &context)
        }
    }

    // MARK: Ends of questions

    private mutating func reject(_ request: PairingRequestID, _ context: inout DaemonContext) {
        guard let asked = questions.removeValue(forKey: request) else { return }
        refused.insert(asked.peer)
        answer(request, .reject, &context)
    }

    /// Refuses the questions to an agent that is gone.
    mutating func reject(askedOf agent: Agents.Agent, _ context: inout DaemonContext) {
        for (request, asked) in questions where asked.agent == agent { reject(request, &context) }
    }

    /// Refuses the questions about a device, because the client that pairs has ended the pairing.
    ///
    /// - Parameter isCancelled: Whether the agents are told.
    mutating func reject(about peer: PeerID, isCancelled: Bool, _ context: inout DaemonContext) {
        for (request, asked) in questions where asked.peer == peer {
            if isCancelled { cancel(asked, &context) }
            reject(request, &context)
        }
    }

    /// Handles the cancellation of a question by the controller.
    mutating func cancelled(_ request: PairingRequestID, _ context: inout DaemonContext) {
        if let asked = questions.removeValue(forKey: request) { cancel(asked, &context) }
    }

    /// Cancels a question, which the agent no longer needs to answer.
    private func cancel(_ asked: Question, _ context: inout DaemonContext) {
        context.request(.ignored, of: asked.agent.object, Agents.interface, "Cancel")
    }
}
#endif
