import BluetoothBackend

extension PairingCommand: Traceable {
    var traceName: String { kind.rawValue }

    var traceCategory: TraceCategory { kind == .setCapability ? .configuration : .command }

    func trace(to line: inout TraceLine) {
        switch self {
        case .setCapability(let capability): line.add("capability", capability.rawValue)
        case .pair(let peer, let operation), .unpair(let peer, let operation):
            line.add("peer", peer)
            line.add("operation", operation)
        case .answer(let request, let answer):
            line.add("request", request)
            line.add("answer", answer.traceText(showsValues: line.showsValues))
        }
    }
}

extension PairingEvent: Traceable {
    var traceName: String { kind.rawValue }

    var traceCategory: TraceCategory { .callback }

    func trace(to line: inout TraceLine) {
        switch self {
        case .requested(let request, let peer, let question):
            line.add("request", request)
            line.add("peer", peer)
            line.add("question", question.traceText(showsValues: line.showsValues))
        case .cancelled(let request): line.add("request", request)
        case .paired(let peer, let operation, let isBonded):
            line.add("peer", peer)
            line.add("operation", operation)
            line.add("isBonded", isBonded)
        case .pairingFailed(let peer, let operation, let error):
            line.add("peer", peer)
            line.add("operation", operation)
            line.add(error)
        case .unpaired(let peer, let operation):
            line.add("peer", peer)
            line.add("operation", operation)
        }
    }
}

extension PairingQuestion {
    /// A passkey is private as values are.
    fileprivate func traceText(showsValues: Bool) -> String {
        switch self {
        case .consent: "consent"
        case .confirm(let passkey): "confirm(\(showsValues ? "\(passkey)" : "<private>"))"
        case .enterPasskey: "enterPasskey"
        case .display(let passkey): "display(\(showsValues ? "\(passkey)" : "<private>"))"
        case .outOfBand: "outOfBand"
        }
    }
}

extension PairingAnswer {
    fileprivate func traceText(showsValues: Bool) -> String {
        switch self {
        case .accept: "accept"
        case .reject: "reject"
        case .passkey(let passkey): "passkey(\(showsValues ? "\(passkey)" : "<private>"))"
        }
    }
}
