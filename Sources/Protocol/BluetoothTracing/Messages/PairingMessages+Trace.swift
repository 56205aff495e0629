package import BluetoothBackend

extension PairingCommand: TraceMessage {
    package static var direction: TraceEntry.Direction { .command }

    package func write(to line: inout TraceLine) {
        switch self {
        case .setCapability(let capability): line.add("capability", capability.rawValue)
        case .pair(let peer, let operation), .unpair(let peer, let operation):
            line.add("peer", peer: peer)
            line.add(operation: operation)
        case .answer(let request, let answer):
            line.add("request", request)
            if case .passkey(let passkey) = answer {
                line.add("passkey", private: passkey)
            } else {
                line.add("answer", answer.kindName)
            }
        }
    }
}

extension PairingEvent: TraceMessage {
    package static var direction: TraceEntry.Direction { .event }

    package func write(to line: inout TraceLine) {
        switch self {
        case .requested(let request, let peer, let question):
            line.add("request", request)
            line.add("peer", peer: peer)
            line.add(question)
        case .cancelled(let request): line.add("request", request)
        case .paired(let peer, let operation, _), .pairingFailed(let peer, let operation, _),
            .unpaired(let peer, let operation):
            line.add("peer", peer: peer)
            line.add(operation: operation)
            if case .paired(_, _, let isBonded) = self { line.add("isBonded", isBonded) }
            if case .pairingFailed(_, _, let error) = self { line.add(error) }
        }
    }
}

extension TraceLine {
    /// Adds a pairing question; its passkey is as private as a value.
    fileprivate mutating func add(_ question: PairingQuestion) {
        add("question", question.kindName)
        switch question {
        case .confirm(let passkey), .display(let passkey): add("passkey", private: passkey)
        case .consent, .enterPasskey, .outOfBand: break
        }
    }
}
