#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// What apps ask for, and how it ends.
extension PairingRoleMachine {
    mutating func handle(_ command: PairingCommand, of agent: Agent, _ device: PairingDevice?) {
        guard let index = agents.firstIndex(where: { $0.id == agent }) else { return }
        switch command {
        case .setCapability(let capability): agents[index].capability = capability
        case .answer(let request, let answer): self.answer(request, answer, of: agent)
        case .pair(let peer, let operation): pair(peer, operation, device, agent)
        case .unpair(let peer, let operation): unpair(peer, operation, device, agent)
        }
    }

    mutating func pair(
        _ peer: PeerID, _ operation: OperationID, _ device: PairingDevice?, _ agent: Agent
    ) {
        guard let device else { return unknown(peer, operation, "pair", agent) }
        if device.isPaired {
            return effects.append(.deliver(agent, .paired(peer: peer, operation: operation, isBonded: true)))
        }
        waiting.append(BondOperation(agent: agent, operation: operation, device: device, isPairing: true))
    }

    /// Our agent is registered: bluetoothd will ask it, and not another program's.
    mutating func beginWaiting() {
        let ready = waiting
        waiting = []
        for bondOperation in ready {
            call(
                .bondOperation(bondOperation), bondOperation.device.path, Device1.interface, "Pair", [], timings.pairing
            )
        }
    }

    mutating func unpair(
        _ peer: PeerID, _ operation: OperationID, _ device: PairingDevice?, _ agent: Agent
    ) {
        guard let device, device.isPaired, let adapter = device.path.parent else {
            return unknown(peer, operation, "unpair", agent)
        }
        let bondOperation = BondOperation(agent: agent, operation: operation, device: device, isPairing: false)
        call(
            .bondOperation(bondOperation), adapter, Adapter1.interface, "RemoveDevice", [.objectPath(device.path)],
            timings.disconnect)
    }

    mutating func unknown(_ peer: PeerID, _ operation: OperationID, _ what: String, _ agent: Agent) {
        let error = BackendError(.unknownDevice, operation: what)
        effects.append(.deliver(agent, .pairingFailed(peer: peer, operation: operation, error: error)))
    }

    mutating func invalidate(_ agent: Agent) {
        agents.removeAll { $0.id == agent }
        for question in questions.open where question.agent == agent {
            questions.remove(question.id)
            reject(question, "the agent is gone")
        }
        waiting.removeAll { $0.agent == agent }
        for (id, purpose) in calls.purposes {
            guard case .bondOperation(let bondOperation) = purpose, bondOperation.agent == agent,
                bondOperation.isPairing
            else { continue }
            calls.purposes[id] = .cleanup
            call(.cleanup, bondOperation.device.path, Device1.interface, "CancelPairing", [], timings.disconnect)
        }
    }

    /// Whether an agent has asked for a pairing or its end, and has no answer.
    func isRequested(for peer: PeerID, by agent: Agent) -> Bool {
        calls.purposes.values.contains { purpose in
            if case .bondOperation(let bondOperation) = purpose {
                bondOperation.agent == agent && bondOperation.device.peer == peer
            } else {
                false
            }
        }
    }

    /// Whether a pairing that an app asked for is under way, or about to be.
    var isPairing: Bool {
        !waiting.isEmpty
            || calls.purposes.values.contains {
                if case .bondOperation(let bondOperation) = $0 { bondOperation.isPairing } else { false }
            }
    }

    // MARK: Outcomes

    mutating func replied(_ id: CallID, _ result: Result<[DBusValue], DBusError>) {
        switch calls.remove(id) {
        case .registration?:
            if let wait = registration.done(error: result.failure) {
                effects.append(.startAgentTimer(wait, timings.agentChange))
            }
            if let error = result.failure {
                effects.append(
                    .log(LogMessage(level: .warning, text: "bluetoothd refuses our pairing agent: \(error)")))
            }
        case .bondOperation(let bondOperation)?:
            if let error = result.failure, error.name != "org.bluez.Error.AlreadyExists" {
                failed(
                    bondOperation, ErrorMap.pairing(error, operation: bondOperation.isPairing ? "Pair" : "RemoveDevice")
                )
            } else {
                fulfilled(bondOperation)
            }
        case .cleanup?, nil: break
        }
    }

    mutating func fulfilled(_ bondOperation: BondOperation) {
        let peer = bondOperation.device.peer
        guard bondOperation.isPairing else {
            bonds.paired[bondOperation.device.path] = nil
            return effects.append(
                .deliver(bondOperation.agent, .unpaired(peer: peer, operation: bondOperation.operation)))
        }
        bonds.paired[bondOperation.device.path] = peer
        endLinkForPairing(bondOperation)
        effects.append(
            .deliver(bondOperation.agent, .paired(peer: peer, operation: bondOperation.operation, isBonded: true)))
    }

    mutating func failed(_ bondOperation: BondOperation, _ error: BackendError) {
        let event = PairingEvent.pairingFailed(
            peer: bondOperation.device.peer, operation: bondOperation.operation, error: error)
        effects.append(.deliver(bondOperation.agent, event))
    }

    /// Gives up a link that was there for pairing only.
    mutating func endLinkForPairing(_ bondOperation: BondOperation) {
        guard !bondOperation.device.isConnected, isReady else { return }
        call(.cleanup, bondOperation.device.path, Device1.interface, "Disconnect", [], timings.disconnect)
    }

    mutating func pairableChanged(_ adapter: ObjectPath, _ isOn: Bool?) {
        guard registration.pairableChanged(on: adapter, to: isOn) else { return }
        effects.append(
            .log(
                LogMessage(
                    level: .info,
                    text: "\(adapter.lastElement): bluetoothd switched pairing on; it is switched off again")))
        let value: [DBusValue] = [.string(Adapter1.interface), .string("Pairable"), .variant(.boolean(false))]
        call(.cleanup, adapter, ObjectModel.properties, "Set", value, timings.discovery)
    }

    /// Says where pairing cannot succeed, for those who want it.
    mutating func noteSwitchedOff() {
        guard asker != nil || acceptsJustWorks else { return }
        for adapter in registration.takeSwitchedOff() {
            let text =
                "\(adapter.lastElement): pairing is switched off, so no device can bond; "
                + "\"bluetoothctl pairable on\" permits it"
            effects.append(.log(LogMessage(level: .warning, text: text)))
        }
    }

    mutating func pairedChanged(_ device: PairingDevice, _ isPaired: Bool) {
        guard (bonds.paired[device.path] != nil) != isPaired else { return }
        bonds.paired[device.path] = isPaired ? device.peer : nil
        bonds.running[device.peer] = nil
        // `Trusted` stays as it is: it would admit the device to every service of this computer, for good, and a bond over
        // Low Energy needs it for nothing.
        if isPaired { cancelQuestions(questions.open.filter { $0.device.peer == device.peer }) }
        // The one who asked is told with the reply.
        for agent in agents where !isRequested(for: device.peer, by: agent.id) {
            effects.append(
                .deliver(
                    agent.id,
                    isPaired
                        ? .paired(peer: device.peer, operation: nil, isBonded: true)
                        : .unpaired(peer: device.peer, operation: nil)))
        }
    }

    /// A pairing renewed a bond: its link has lived on.
    mutating func renewed(_ peer: PeerID) {
        guard bonds.running.removeValue(forKey: peer) != nil else { return }
        for agent in agents where !isRequested(for: peer, by: agent.id) {
            effects.append(.deliver(agent.id, .paired(peer: peer, operation: nil, isBonded: true)))
        }
    }

    /// BlueZ has forgotten the device, and its bond.
    mutating func removed(_ path: ObjectPath) {
        if let peer = bonds.paired[path] { pairedChanged(PairingDevice(path: path, peer: peer), false) }
        for (peer, device) in bonds.running where device == path {
            fail(peer, BackendError(.peerDisconnected, operation: "pair"))
        }
    }

    /// A pairing that no app of this process asked for is over, without success.
    mutating func fail(_ peer: PeerID, _ error: BackendError) {
        let wasEnded = bonds.ended.remove(peer) != nil
        bonds.renewing.remove(peer)
        guard bonds.running.removeValue(forKey: peer) != nil || wasEnded else { return }
        cancelQuestions(questions.open.filter { $0.device.peer == peer })
        for agent in agents where !isRequested(for: peer, by: agent.id) {
            effects.append(.deliver(agent.id, .pairingFailed(peer: peer, operation: nil, error: error)))
        }
    }
}
#endif
