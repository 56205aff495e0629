#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The pairings of an adapter.
struct AdapterPairing: Sendable {
    struct Question: Sendable {
        let peer: PeerID
        let kind: PairingQuestion
        /// The agent that is asked; nil if the daemon answers itself.
        let agent: Agents.Agent
    }

    var capability = PairingCapability.noInputNoOutput
    /// The questions that agents have not answered.
    var questions: [PairingRequestID: Question] = [:]
    /// The devices whose pairing this side refused.
    var refused: Set<PeerID> = []
}

// Pairing: for a client's `Pair`, for a protected attribute, or at the request of the other side.
extension BluetoothDaemon {
    // MARK: Pair

    mutating func pair(_ call: ClientCall, _ peer: PeerID, on index: Int) throws(DBusError) {
        guard let device = adapters[index].devices[peer] else {
            throw BlueZError.unknown(call, isObjectThere: false)
        }
        guard !device.security.isBonded else { throw BlueZError.alreadyExists }
        guard adapters[index].state.isPowered else { throw BlueZError.notReady }
        guard device.security.pairing == nil else { throw BlueZError.busy }
        guard device.connection.connect == nil else {
            throw dialect >= .bluez5_82 ? BlueZError.busy : BlueZError.alreadyConnecting
        }
        adapters[index].devices[peer]?.isTemporary = false
        let operation = nextOperation()
        adapters[index].devices[peer]?.security.pairing = DaemonDevice.PendingPairing(
            call: call.id, sender: call.sender, operation: operation)
        if device.isConnected {
            startPairing(of: peer, on: index)
        } else {
            startConnecting(peer, on: index, for: nil)
        }
    }

    /// Begins the pairing that a client asked for, after the link has opened.
    mutating func startPairing(of peer: PeerID, on index: Int) {
        guard let pairing = adapters[index].devices[peer]?.security.pairing, !pairing.isPaired else { return }
        guard hasAgent else {
            remarkThatNoAgentIsThere(peer, on: index)
            return endPairing(of: peer, on: index, BlueZError.authenticationFailed)
        }
        let capability = capability(of: agents.agent(of: pairing.sender) ?? agents.default)
        if adapters[index].pairing.capability != capability {
            adapters[index].pairing.capability = capability
            output(.pairing(adapter: index, .setCapability(capability)))
        }
        output(.pairing(adapter: index, .pair(peer: peer, operation: pairing.operation)))
    }

    mutating func cancelPairing(_ call: ClientCall, _ peer: PeerID, on index: Int) throws(DBusError) {
        guard adapters[index].devices[peer]?.security.pairing != nil else { throw BlueZError.doesNotExist }
        for (question, asked) in adapters[index].pairing.questions where asked.peer == peer {
            cancel(asked)
            reject(question, on: index)
        }
        // A client's own `Connect` continues.
        if let connect = adapters[index].devices[peer]?.connection.connect, connect.call == nil {
            output(.central(adapter: index, .disconnect(peer: peer)))
            adapters[index].devices[peer]?.connection.connect = nil
        }
        endPairing(of: peer, on: index, BlueZError.authenticationCanceled)
        closeLinks(with: peer, on: index)
        answer(call.id)
    }

    /// Answers the client's `Pair` when the services of the paired device are known.
    mutating func finishPairing(of peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer], let pairing = device.security.pairing, pairing.isPaired,
            device.connection.link == nil || device.discovery == nil
        else { return }
        adapters[index].devices[peer]?.security.pairing = nil
        answer(pairing.call)
        showCapability()
    }

    /// Ends a failed pairing that a client asked for.
    mutating func endPairing(of peer: PeerID, on index: Int, _ error: DBusError) {
        guard let pairing = adapters[index].devices[peer]?.security.pairing else { return }
        adapters[index].devices[peer]?.security.pairing = nil
        refuse(pairing.call, error)
        showCapability()
    }

    // MARK: Events

    mutating func handle(_ event: PairingEvent, on index: Int) {
        switch event {
        case .requested(let request, let peer, let question): ask(question, request, peer, on: index)
        case .cancelled(let request):
            guard let asked = adapters[index].pairing.questions.removeValue(forKey: request) else { return }
            cancel(asked)
        case .paired(let peer, _, let isBonded): paired(peer, isBonded: isBonded, on: index)
        case .pairingFailed(let peer, _, let error): pairingFailed(peer, error, on: index)
        case .unpaired(let peer, _): showPaired(false, isBonded: false, peer, on: index)
        }
    }

    private mutating func paired(_ peer: PeerID, isBonded: Bool, on index: Int) {
        if isBonded { adapters[index].devices[peer]?.isTemporary = false }
        showPaired(true, isBonded: isBonded, peer, on: index)
        adapters[index].devices[peer]?.security.pairing?.isPaired = true
        finishPairing(of: peer, on: index)
    }

    private mutating func showPaired(_ isPaired: Bool, isBonded: Bool, _ peer: PeerID, on index: Int) {
        guard let path = adapters[index].devices[peer]?.path else { return }
        adapters[index].devices[peer]?.security.isPaired = isPaired
        adapters[index].devices[peer]?.security.isBonded = isBonded
        setWithBearer("Bonded", isBonded, at: path)
        setWithBearer("Paired", isPaired, at: path)
    }

    /// Handles a failed pairing.
    ///
    /// The kernel ends the link if the other side failed it; after a refusal by this side the link stays open, but no
    /// further response is sent on it.
    private mutating func pairingFailed(_ peer: PeerID, _ error: BackendError, on index: Int) {
        guard let device = adapters[index].devices[peer] else { return }
        if !hasAgent { remarkThatNoAgentIsThere(peer, on: index) }
        let isOurs = adapters[index].pairing.refused.remove(peer) != nil
        // The kernel treats a refusal by this side as any other failure.
        endPairing(of: peer, on: index, isOurs ? BlueZError.authenticationFailed : BlueZError.pairing(error))
        guard device.isConnected else { return }
        adapters[index].devices[peer]?.connection.link?.isMute = true
        if !isOurs { closeLinks(with: peer, on: index, isForSecurity: true) }
    }

    private mutating func remarkThatNoAgentIsThere(_ peer: PeerID, on index: Int) {
        guard let address = adapters[index].devices[peer]?.address else { return }
        output(
            .remark(
                "\(address) was not paired, and no program has registered an agent, which bluetoothd needs even for a "
                    + "device without a passkey"))
    }

    // MARK: Questions

    private mutating func ask(
        _ question: PairingQuestion, _ request: PairingRequestID, _ peer: PeerID, on index: Int
    ) {
        guard let device = adapters[index].devices[peer] else {
            return output(.pairing(adapter: index, .answer(request: request, answer: .reject)))
        }
        let caller = device.security.pairing.flatMap { agents.agent(of: $0.sender) }
        guard device.security.pairing != nil || adapters[index].state.isPairable || device.connection.link != nil else {
            return output(.pairing(adapter: index, .answer(request: request, answer: .reject)))
        }
        guard let agent = caller ?? agents.default else {
            guard let answer = answerWithoutAgent(to: question) else { return }
            if answer == .reject { adapters[index].pairing.refused.insert(peer) }
            return output(.pairing(adapter: index, .answer(request: request, answer: answer)))
        }
        // A client that calls `Pair` thereby agrees to Just Works: an agent must exist, but is not asked.
        guard question != .outOfBand, question != .consent || device.security.pairing == nil else {
            return output(.pairing(adapter: index, .answer(request: request, answer: .accept)))
        }
        adapters[index].pairing.questions[request] = AdapterPairing.Question(peer: peer, kind: question, agent: agent)
        let path = DBusValue.objectPath(device.path)
        let (member, arguments): (String, [DBusValue]) =
            switch question {
            case .confirm(let passkey): ("RequestConfirmation", [path, .uint32(UInt32(passkey))])
            case .enterPasskey: ("RequestPasskey", [path])
            case .display(let passkey): ("DisplayPasskey", [path, .uint32(UInt32(passkey)), .uint16(0)])
            case .consent, .outOfBand: ("RequestAuthorization", [path])
            }
        self.request(
            .agent(adapter: index, request), of: agent.client, agent.path, Self.agentInterface, member, arguments,
            deadline: configuration.agentDeadline)
    }

    /// The answer without an agent: a rejection if the configuration has no passkey; nil if the device is to answer.
    ///
    /// Since Linux 5.6 the kernel requires confirmation even of Just Works, for which `bluetoothd` needs an agent.
    ///
    /// Source: Linux, `net/bluetooth/smp.c`, `smp_cmd_pairing_random`; BlueZ, `src/device.c`, `device_confirm_passkey`.
    private func answerWithoutAgent(to question: PairingQuestion) -> PairingAnswer? {
        guard let passkey = configuration.passkey else { return .reject }
        switch question {
        case .enterPasskey: return .passkey(passkey)
        case .display: return nil
        case .consent, .confirm, .outOfBand: return .accept
        }
    }

    /// Handles the answer of an agent.
    mutating func agentReplied(
        _ request: PairingRequestID, _ result: Result<[DBusValue], DBusError>, on index: Int
    ) {
        guard let asked = adapters[index].pairing.questions[request] else { return }
        switch (asked.kind, result) {
        case (.display, .success): break  // displayed until the pairing is over
        case (.enterPasskey, .success(let values)):
            guard let passkey = values.first?.uint32Value, passkey < 1_000_000 else {
                return reject(request, on: index)
            }
            adapters[index].pairing.questions[request] = nil
            output(.pairing(adapter: index, .answer(request: request, answer: .passkey(Int(passkey)))))
        case (_, .success):
            adapters[index].pairing.questions[request] = nil
            output(.pairing(adapter: index, .answer(request: request, answer: .accept)))
        case (_, .failure(let error)):
            if error.name == DBusError.Name.noReply { cancel(asked) }
            reject(request, on: index)
        }
    }

    mutating func reject(_ request: PairingRequestID, on index: Int) {
        guard let asked = adapters[index].pairing.questions.removeValue(forKey: request) else { return }
        adapters[index].pairing.refused.insert(asked.peer)
        output(.pairing(adapter: index, .answer(request: request, answer: .reject)))
    }

    /// Cancels a question, which the agent no longer needs to answer.
    private mutating func cancel(_ asked: AdapterPairing.Question) {
        request(
            .ignored, of: asked.agent.client, asked.agent.path, Self.agentInterface, "Cancel",
            deadline: configuration.agentDeadline)
    }
}
#endif
