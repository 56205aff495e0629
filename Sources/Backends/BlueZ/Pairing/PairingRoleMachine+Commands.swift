#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Commands of apps, and their outcomes.
extension PairingRoleMachine {
    mutating func handle(_ command: PairingCommand, of agent: Agent) {
        switch command {
        case .setCapability(let capability): managers[agent]?.capability = capability
        case .answer(let request, let answer): self.answer(request, answer, of: agent)
        case .pair(let peer, let operation): pair(peer, operation, agent)
        case .unpair(let peer, let operation): unpair(peer, operation, agent)
        }
    }

    private mutating func pair(_ peer: PeerID, _ operation: OperationID, _ agent: Agent) {
        guard let (path, object) = device(of: peer) else { return unknown(peer, operation, "pair", agent) }
        if object.isPaired { return deliver(agent, .paired(peer: peer, operation: operation, isBonded: true)) }
        waiting.append(
            BondOperation(
                agent: agent, operation: operation, device: Device(path: path, peer: peer), isPairing: true,
                wasConnected: object.isConnected))
    }

    private func device(of peer: PeerID) -> (path: ObjectPath, object: Device1)? {
        objects.path(of: peer).flatMap { path in objects.devices[path].map { (path, $0) } }
    }

    /// Begins the waiting pairings, because the agent is registered and bluetoothd will ask it and no other program's.
    ///
    /// A pairing that a second agent requests while the device is being paired waits, and gets the outcome of the first
    /// one: bluetoothd refuses a second `Pair` with `InProgress`.
    mutating func beginWaiting() {
        let ready = waiting
        waiting = []
        for bondOperation in ready {
            guard !bondOperations.contains(where: { $0.operation.isPairing(bondOperation.device) }) else {
                waiting.append(bondOperation)
                continue
            }
            call(
                .bondOperation(bondOperation), bondOperation.device.path, Device1.interface, "Pair",
                deadline: timings.pairing)
        }
    }

    private mutating func unpair(_ peer: PeerID, _ operation: OperationID, _ agent: Agent) {
        guard let (path, object) = device(of: peer), object.isPaired, let adapter = path.parent else {
            return unknown(peer, operation, "unpair", agent)
        }
        let bondOperation = BondOperation(
            agent: agent, operation: operation, device: Device(path: path, peer: peer), isPairing: false,
            wasConnected: object.isConnected)
        call(
            .bondOperation(bondOperation), adapter, Adapter1.interface, "RemoveDevice", [.objectPath(path)],
            deadline: timings.disconnect)
    }

    private mutating func unknown(_ peer: PeerID, _ operation: OperationID, _ what: String, _ agent: Agent) {
        let error = BackendError(.unknownDevice, operation: what)
        deliver(agent, .pairingFailed(peer: peer, operation: operation, error: error))
    }

    mutating func invalidate(_ agent: Agent) {
        managers[agent] = nil
        for question in questions.open where question.agent == agent {
            questions.remove(question.id)
            reject(question, "the agent is gone")
        }
        waiting.removeAll { $0.agent == agent }
        for (id, operation) in bondOperations where operation.agent == agent && operation.isPairing {
            if let index = waiting.firstIndex(where: { $0.isPairing(operation.device) }) {
                let heir = waiting.remove(at: index)
                outputs.calls[id] = .bondOperation(
                    BondOperation(
                        agent: heir.agent, operation: heir.operation, device: operation.device, isPairing: true,
                        wasConnected: operation.wasConnected))
                continue
            }
            outputs.calls[id] = .cleanup
            call(.cleanup, operation.device.path, Device1.interface, "CancelPairing", deadline: timings.disconnect)
        }
    }

    /// The operations that `bluetoothd` has not answered, in the order of their requests.
    var bondOperations: [(call: CallID, operation: BondOperation)] {
        let operations: [(call: CallID, operation: BondOperation)] = outputs.calls.compactMap { call, purpose in
            if case .bondOperation(let operation) = purpose { (call, operation) } else { nil }
        }
        return operations.sorted { $0.call.number < $1.call.number }
    }

    /// Whether an agent has an unanswered request for a pairing, or for the end of a bond.
    ///
    /// The two are distinguished, because a request for the end of a bond does not accept a pairing.
    func isRequested(pairing isPairing: Bool, of peer: PeerID, by agent: Agent) -> Bool {
        (bondOperations.map(\.operation) + waiting).contains {
            $0.agent == agent && $0.device.peer == peer && $0.isPairing == isPairing
        }
    }

    /// Whether a pairing that an app requested is running or about to begin.
    var isPairing: Bool { !waiting.isEmpty || bondOperations.contains(where: \.operation.isPairing) }

    // MARK: Outcomes

    mutating func replied(_ id: CallID, _ result: Result<MethodReply, DBusError>) {
        switch purpose(of: id) {
        case .registration?:
            if registration.done(error: result.failure) { start(.agentChange, timings.agentChange) }
            if let error = result.failure { log(.warning, "bluetoothd refuses our pairing agent: \(error)") }
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

    private mutating func fulfilled(_ bondOperation: BondOperation) {
        let (device, operation) = (bondOperation.device, bondOperation.operation)
        guard bondOperation.isPairing else {
            bonds.paired[device.path] = nil
            return deliver(bondOperation.agent, .unpaired(peer: device.peer, operation: operation))
        }
        bonds.paired[device.path] = device.peer
        // A link that was made only for pairing is ended.
        if !bondOperation.wasConnected, isReady {
            call(.cleanup, device.path, Device1.interface, "Disconnect", deadline: timings.disconnect)
        }
        for other in takeJoined(bondOperation) + [bondOperation] {
            deliver(other.agent, .paired(peer: device.peer, operation: other.operation, isBonded: true))
        }
    }

    mutating func failed(_ bondOperation: BondOperation, _ error: BackendError) {
        for other in takeJoined(bondOperation) + [bondOperation] {
            deliver(other.agent, .pairingFailed(peer: other.device.peer, operation: other.operation, error: error))
        }
    }

    /// Removes and returns the pairings that other agents requested while this one was running.
    private mutating func takeJoined(_ bondOperation: BondOperation) -> [BondOperation] {
        guard bondOperation.isPairing else { return [] }
        let joined = waiting.filter { $0.isPairing(bondOperation.device) }
        waiting.removeAll { $0.isPairing(bondOperation.device) }
        return joined
    }

    // MARK: Pairable

    mutating func pairableChanged(_ adapter: ObjectPath) {
        guard let isPairable = objects.adapters[adapter]?.isPairable,
            registration.pairableChanged(on: adapter, to: isPairable)
        else { return }
        log(.info, "\(adapter.lastElement): bluetoothd switched pairing on; it is switched off again")
        let value: [DBusValue] = [.string(Adapter1.interface), .string("Pairable"), .variant(.boolean(false))]
        call(.cleanup, adapter, ObjectModel.properties, "Set", value, deadline: timings.discovery)
    }

    /// Logs the adapters on which pairing cannot succeed, if an app or the configuration wants it.
    mutating func noteSwitchedOff() {
        guard asker != nil || acceptsJustWorks else { return }
        for adapter in registration.takeSwitchedOff() {
            log(
                .warning,
                "\(adapter.lastElement): pairing is switched off, so no device can bond; "
                    + "\"bluetoothctl pairable on\" permits it")
        }
    }

    // MARK: Bonds

    mutating func pairedChanged(_ device: Device, _ isPaired: Bool) {
        guard (bonds.paired[device.path] != nil) != isPaired else { return }
        bonds.paired[device.path] = isPaired ? device.peer : nil
        bonds.running[device.peer] = nil
        // `Trusted` stays unchanged: it would admit the device to every service of this computer, permanently, and a
        // bond over Low Energy does not need it.
        if isPaired {
            stop(.outcome(device.peer))
            cancelQuestions(questions.open.filter { $0.device.peer == device.peer })
        }
        reportOthers(
            isPaired
                ? .paired(peer: device.peer, operation: nil, isBonded: true)
                : .unpaired(peer: device.peer, operation: nil),
            about: device.peer)
    }

    /// Notifies all agents except those that requested the change, which receive the reply.
    private mutating func reportOthers(_ event: PairingEvent, about peer: PeerID) {
        let isPairing = if case .unpaired = event { false } else { true }
        for agent in managers.keys.sorted() where !isRequested(pairing: isPairing, of: peer, by: agent) {
            deliver(agent, event)
        }
    }

    /// Reports a renewed bond, because its link has survived.
    mutating func renewed(_ peer: PeerID) {
        guard bonds.running.removeValue(forKey: peer) != nil else { return }
        reportOthers(.paired(peer: peer, operation: nil, isBonded: true), about: peer)
    }

    /// Records that BlueZ has removed the device and its bond.
    mutating func removed(_ path: ObjectPath) {
        if let peer = bonds.paired[path] { pairedChanged(Device(path: path, peer: peer), false) }
        for (peer, device) in bonds.running where device == path {
            fail(peer, BackendError(.peerDisconnected, operation: "pair"))
        }
    }

    /// Ends a pairing that no app of this process requested, without success.
    ///
    /// - Parameter wasEnded: Whether the daemon has ended it before.
    mutating func fail(_ peer: PeerID, _ error: BackendError, wasEnded: Bool = false) {
        let wasEnded = wasEnded || isRunning(.outcome(peer))
        stop(.outcome(peer))
        stop(.rebond(peer))
        guard bonds.running.removeValue(forKey: peer) != nil || wasEnded else { return }
        cancelQuestions(questions.open.filter { $0.device.peer == peer })
        reportOthers(.pairingFailed(peer: peer, operation: nil, error: error), about: peer)
    }
}
#endif
