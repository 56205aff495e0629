extension PairingCommand: TraceMessage {
    package var traceName: String { kind.rawValue }

    package func teach(_ names: inout TraceNames, role: Int) {}

    package func write(to line: inout TraceLine) {
        switch self {
        case .setCapability(let capability): line.add("capability", capability.rawValue)
        case .pair(let peer, let operation), .unpair(let peer, let operation):
            line.add("peer", peer: peer)
            line.add("operation", operation)
        case .answer(let request, let answer):
            line.add("request", request)
            switch answer {
            case .accept: line.add("answer", "accept")
            case .reject: line.add("answer", "reject")
            case .passkey(let passkey): line.add("passkey", private: passkey)
            }
        }
    }
}

extension PairingEvent: TraceMessage {
    package var traceName: String { kind.rawValue }

    package func teach(_ names: inout TraceNames, role: Int) {}

    package func write(to line: inout TraceLine) {
        switch self {
        case .requested(let request, let peer, let question):
            line.add("request", request)
            line.add("peer", peer: peer)
            line.add(question)
        case .cancelled(let request): line.add("request", request)
        case .paired(let peer, let operation, let isBonded):
            line.add("peer", peer: peer)
            line.add("operation", operation)
            line.add("isBonded", isBonded)
        case .pairingFailed(let peer, let operation, let error):
            line.add("peer", peer: peer)
            line.add("operation", operation)
            line.add(error)
        case .unpaired(let peer, let operation):
            line.add("peer", peer: peer)
            line.add("operation", operation)
        }
    }
}

extension TraceLine {
    /// A question of pairing; its passkey is as private as a value.
    fileprivate mutating func add(_ question: PairingQuestion) {
        switch question {
        case .consent: add("question", "consent")
        case .confirm(let passkey):
            add("question", "confirm")
            add("passkey", private: passkey)
        case .enterPasskey: add("question", "enterPasskey")
        case .display(let passkey):
            add("question", "display")
            add("passkey", private: passkey)
        case .outOfBand: add("question", "outOfBand")
        }
    }
}
