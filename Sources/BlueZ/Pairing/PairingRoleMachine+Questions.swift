#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// What the daemon asks, and who answers.
extension PairingRoleMachine {
    mutating func asked(
        _ call: AgentCallID, _ question: AgentQuestion, _ path: ObjectPath, _ device: PairingDevice?
    ) {
        switch question {
        case .service(let uuid): refuse(call, .service(uuid), path, device)
        case .pinCode: refuse(call, .pinCode, path, device)
        case .pairing(let kind):
            guard let device, device.isOurs || agents.contains(where: { isRequested(for: device.peer, by: $0.id) })
            else {
                return refuse(call, .notNeeded, path, device)
            }
            if let agent = asker?.id { askApp(agent, call, kind, device) } else { decide(call, kind, device) }
        }
    }

    /// Refuses, with a line in the log that says what to do, once for each device.
    private mutating func refuse(
        _ call: AgentCallID, _ refusal: Refusal, _ path: ObjectPath, _ device: PairingDevice?
    ) {
        effects.append(.answer(call, .reject))
        guard refusals.isNew(refusal, of: path) else { return }
        let text = refusal.text(about: device.map { "device \($0.peer)" } ?? "an unknown device")
        effects.append(.log(LogMessage(level: .warning, text: text)))
    }

    /// No app's agent is there, and no other program's either: the configuration decides.
    private mutating func decide(_ call: AgentCallID, _ kind: PairingQuestion, _ device: PairingDevice) {
        guard kind == .consent, acceptsJustWorks else {
            refuse(call, kind == .consent ? .noConsent : .noNumber, device.path, device)
            return effects.append(.refused(device.peer))
        }
        let text = "paired with device \(device.peer) unasked, as BlueZConfiguration.acceptsJustWorksPairing says"
        effects.append(.log(LogMessage(level: .info, text: text)))
        effects.append(.answer(call, .accept))
    }

    private mutating func askApp(
        _ agent: Agent, _ call: AgentCallID, _ kind: PairingQuestion, _ device: PairingDevice
    ) {
        // Who asked for the pairing need not agree to it.
        if kind == .consent, isRequested(for: device.peer, by: agent) { return effects.append(.answer(call, .accept)) }
        bonds.running[device.peer] = device.path
        if case .display(let passkey) = kind {
            // The daemon waits for nothing, and repeats the call with each digit that the peer's user types.
            effects.append(.answer(call, .accept))
            let isShown = questions.open.contains {
                $0.device.peer == device.peer && $0.kind == .display(passkey: passkey)
            }
            if !isShown { ask(agent, device, kind, nil) }
            return
        }
        ask(agent, device, kind, call)
    }

    mutating func ask(
        _ agent: Agent, _ device: PairingDevice, _ kind: PairingQuestion, _ call: AgentCallID?
    ) {
        let id = questions.add(kind, to: agent, about: device, call: call)
        effects.append(.deliver(agent, .requested(request: id, peer: device.peer, question: kind)))
    }

    mutating func answer(_ id: PairingRequestID, _ answer: PairingAnswer, of agent: Agent) {
        guard let question = questions.open.first(where: { $0.id == id && $0.agent == agent }) else { return }
        switch answer {
        case .accept:
            guard let call = question.call else { return }
            effects.append(.answer(call, .accept))
        case .passkey(let number):
            guard let call = question.call, let number = UInt32(exactly: number) else { return }
            effects.append(.answer(call, .passkey(number)))
        case .reject:
            questions.remove(id)
            return reject(question, "the user refuses")
        }
        questions.remove(id)
        awaitRenewal(question.device)
    }

    /// BlueZ says nothing of a pairing that renews a bond: it counts as done when nothing has gone wrong for a moment.
    private mutating func awaitRenewal(_ device: PairingDevice) {
        guard bonds.paired[device.path] != nil, bonds.running[device.peer] != nil else { return }
        bonds.renewing.insert(device.peer)
        effects.append(.startTimer(device.peer, timings.rebondConfirmation))
    }

    mutating func reject(_ question: Question, _ why: String) {
        if let call = question.call {
            effects.append(.answer(call, .reject))
            effects.append(.refused(question.device.peer))
        } else {
            // A number that is shown can only be taken back.
            self.call(
                .cleanup, question.device.path, Device1.interface, "CancelPairing", [], timings.disconnect)
        }
        fail(question.device.peer, BackendError(.operationCancelled, operation: "pair", message: why))
    }

    /// Takes questions back.
    mutating func cancelQuestions(_ gone: [Question]) {
        for question in gone {
            questions.remove(question.id)
            if let call = question.call { effects.append(.answer(call, .reject)) }
            effects.append(.deliver(question.agent, .cancelled(request: question.id)))
        }
    }

    /// The daemon cancels what it asked last: a number that is shown when it is over, anything else when it failed.
    mutating func cancelled() {
        let failing = questions.open.filter { $0.call != nil }.map(\.device)
        cancelQuestions(questions.open)
        for device in failing {
            // The end of the link comes just after, and explains it.
            bonds.ended.insert(device.peer)
            effects.append(.startTimer(device.peer, timings.powerLoss))
        }
    }
}
#endif
