#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Questions of the daemon, and their answers.
extension PairingRoleMachine {
    mutating func handle(_ call: IncomingCall, isNeeded: Bool) {
        switch Agent1.request(call.member, call.arguments) {
        case .ask(let question, let path): asked(call.number, question, path, isNeeded: isNeeded)
        case .unwanted(let refusal, let path): refuse(call.number, refusal, path)
        case .cancel:
            accept(call.number)
            cancelled()
        case .release:
            accept(call.number)
            registration.reset()
        case nil: reject(call.number)
        }
    }

    private mutating func accept(_ call: IncomingCall.Number) { outputs.effects.append(.answer(call, [])) }

    private mutating func reject(_ call: IncomingCall.Number) {
        outputs.effects.append(.refuse(call, Agent1.rejection))
    }

    private mutating func asked(
        _ call: IncomingCall.Number, _ kind: PairingQuestion, _ path: ObjectPath, isNeeded: Bool
    ) {
        guard let peer = objects.peer(at: path),
            isNeeded || managers.keys.contains(where: { isRequested(pairing: true, of: peer, by: $0) })
        else { return refuse(call, .notNeeded, path) }
        let device = Device(path: path, peer: peer)
        if let agent = asker?.id { askApp(agent, call, kind, device) } else { decide(call, kind, device) }
    }

    /// Refuses a call, and logs the remedy once for each device.
    private mutating func refuse(_ call: IncomingCall.Number, _ refusal: Refusal, _ path: ObjectPath) {
        reject(call)
        let entry = LoggedRefusal(refusal: refusal, device: path)
        guard refusals[entry] == nil else { return }
        refusals.insert(true, for: entry)
        log(.warning, refusal.text(about: objects.peer(at: path).map { "device \($0)" } ?? "an unknown device"))
    }

    /// Answers a question as the configuration decides, because neither an app nor another program has an agent.
    private mutating func decide(_ call: IncomingCall.Number, _ kind: PairingQuestion, _ device: Device) {
        guard kind == .consent, acceptsJustWorks else {
            refuse(call, kind == .consent ? .noConsent : .noNumber, device.path)
            return outputs.effects.append(.refused(device.peer))
        }
        log(.info, "paired with device \(device.peer) unasked, as BlueZConfiguration.acceptsJustWorksPairing says")
        accept(call)
    }

    private mutating func askApp(
        _ agent: Agent, _ call: IncomingCall.Number, _ kind: PairingQuestion, _ device: Device
    ) {
        // A request for the pairing is consent to it.
        if kind == .consent, isRequested(pairing: true, of: device.peer, by: agent) { return accept(call) }
        bonds.running[device.peer] = device.path
        if case .display(let passkey) = kind {
            // The daemon waits for no answer, and repeats the call with each digit that the peer's user types.
            accept(call)
            let isShown = questions.open.contains {
                $0.device.peer == device.peer && $0.kind == .display(passkey: passkey)
            }
            if !isShown { ask(agent, device, kind, nil) }
            return
        }
        ask(agent, device, kind, call)
    }

    mutating func ask(
        _ agent: Agent, _ device: Device, _ kind: PairingQuestion, _ call: IncomingCall.Number?
    ) {
        let id = questions.add(kind, to: agent, about: device, call: call)
        deliver(agent, .requested(request: id, peer: device.peer, question: kind))
    }

    mutating func answer(_ id: PairingRequestID, _ answer: PairingAnswer, of agent: Agent) {
        guard let question = questions.open.first(where: { $0.id == id && $0.agent == agent }) else { return }
        switch answer {
        case .accept:
            guard let call = question.call else { return }
            accept(call)
        case .passkey(let number):
            guard let call = question.call, let number = UInt32(exactly: number) else { return }
            outputs.effects.append(.answer(call, [.uint32(number)]))
        case .reject:
            questions.remove(id)
            return reject(question, "the user refuses")
        }
        questions.remove(id)
        awaitRenewal(question.device)
    }

    /// Waits for a pairing that renews a bond: BlueZ reports nothing, so it counts as complete if no error follows.
    private mutating func awaitRenewal(_ device: Device) {
        guard bonds.paired[device.path] != nil, bonds.running[device.peer] != nil else { return }
        start(.rebond(device.peer), timings.rebondConfirmation)
    }

    mutating func reject(_ question: Question, _ why: String) {
        if let call = question.call {
            reject(call)
            outputs.effects.append(.refused(question.device.peer))
        } else {
            // A number that is shown can only be cancelled.
            call(
                .cleanup, question.device.path, Device1.interface, "CancelPairing", deadline: timings.disconnect)
        }
        fail(question.device.peer, BackendError(.operationCancelled, operation: "pair", message: why))
    }

    /// Cancels questions.
    mutating func cancelQuestions(_ gone: [Question]) {
        for question in gone {
            questions.remove(question.id)
            if let call = question.call { reject(call) }
            deliver(question.agent, .cancelled(request: question.id))
        }
    }

    /// Cancels all questions: a shown number when the pairing has ended, any other question when it has failed.
    mutating func cancelled() {
        let failing = questions.open.filter { $0.call != nil }.map(\.device)
        cancelQuestions(questions.open)
        for device in failing {
            // The end of the link follows immediately, and explains the cancellation.
            start(.outcome(device.peer), timings.powerLoss)
        }
    }
}
#endif
