import BluetoothBackend

/// The state of a pairing agent: open questions, and pairings that the app started.
///
/// Pure: a call or an event of the backend goes in, effects come out.
struct PairingMachine {
    enum Effect: Equatable, Sendable {
        case submit(PairingCommand)
        case misuse(Misuse)
        case callback(Callback)
    }

    enum Callback: Equatable, Sendable {
        case requested(PairingRequestID, PeerID, PairingQuestion)
        case cancelled(PairingRequestID)
        case paired(PeerID, isBonded: Bool)
        case failed(PeerID, BackendError)
        case unpaired(PeerID)
        /// The completion of a call.
        case finished(OperationID, BackendError?)
        /// The questions are void.
        case forgotten([PairingRequestID])
    }

    /// An answer that is logged and ignored.
    enum Misuse: Equatable, Sendable {
        case answerDoesNotFit(PairingQuestion, PairingAnswer)
        case requestIsOver(PairingRequestID)
    }

    /// A call of the app that waits for the end of a pairing.
    struct Call {
        enum Kind: String {
            case pair, unpair
        }

        let kind: Kind
        let peer: PeerID
    }

    private(set) var requests: [PairingRequestID: (peer: PeerID, question: PairingQuestion)] = [:]
    private(set) var calls: [OperationID: Call] = [:]
    private var lastOperation = OperationID(rawValue: 0)

    func isOpen(_ request: PairingRequestID) -> Bool { requests[request] != nil }

    // MARK: Calls

    /// Begins a pairing, or joins one that an earlier call has begun and that is not over.
    mutating func pair(_ peer: PeerID) -> (OperationID, [Effect]) {
        let isUnderWay = !pairings(with: peer).isEmpty
        let operation = newCall(.pair, peer)
        return (operation, isUnderWay ? [] : [.submit(.pair(peer: peer, operation: operation))])
    }

    mutating func unpair(_ peer: PeerID) -> (OperationID, [Effect]) {
        let operation = newCall(.unpair, peer)
        return (operation, [.submit(.unpair(peer: peer, operation: operation))])
    }

    /// Answers a question, once; an answer that does not fit is logged and leaves the question open.
    mutating func answer(_ request: PairingRequestID, _ answer: PairingAnswer) -> [Effect] {
        guard let question = requests[request]?.question else { return [.misuse(.requestIsOver(request))] }
        guard question.takes(answer) else { return [.misuse(.answerDoesNotFit(question, answer))] }
        requests[request] = nil
        return [.submit(.answer(request: request, answer: answer))]
    }

    // MARK: Events

    mutating func handle(_ event: PairingEvent) -> [Effect] {
        switch event {
        case .requested(let request, let peer, let question):
            requests[request] = (peer, question)
            return [.callback(.requested(request, peer, question))]
        case .cancelled(let request):
            // An answer may be under way: the question is closed then.
            guard requests.removeValue(forKey: request) != nil else { return [] }
            return [.callback(.cancelled(request))]
        case .paired(let peer, let operation, let isBonded):
            return forget(peer) + finish(operation, nil) + [.callback(.paired(peer, isBonded: isBonded))]
        case .unpaired(let peer, let operation):
            return finish(operation, nil) + [.callback(.unpaired(peer))]
        case .pairingFailed(let peer, let operation, let error):
            let wasUnpairing = operation.flatMap { calls[$0]?.kind } == .unpair
            let finished = finish(operation, error)
            return wasUnpairing ? finished : forget(peer) + finished + [.callback(.failed(peer, error))]
        }
    }

    // MARK: Steps

    private mutating func newCall(_ kind: Call.Kind, _ peer: PeerID) -> OperationID {
        lastOperation = lastOperation.next
        calls[lastOperation] = Call(kind: kind, peer: peer)
        return lastOperation
    }

    private mutating func finish(_ operation: OperationID?, _ error: BackendError?) -> [Effect] {
        guard let operation, let call = calls.removeValue(forKey: operation) else { return [] }
        let joined = call.kind == .pair ? pairings(with: call.peer) : []
        for other in joined { calls[other] = nil }
        return ([operation] + joined).map { .callback(.finished($0, error)) }
    }

    /// Returns the calls that wait for a pairing with a peer, in order.
    private func pairings(with peer: PeerID) -> [OperationID] {
        calls.filter { $0.value.kind == .pair && $0.value.peer == peer }.keys.sorted()
    }

    /// Ends a pairing; open questions about it, such as a number that is shown, are void.
    private mutating func forget(_ peer: PeerID) -> [Effect] {
        let void = requests.filter { $0.value.peer == peer }.keys.sorted()
        guard !void.isEmpty else { return [] }
        for request in void { requests[request] = nil }
        return [.callback(.forgotten(void))]
    }
}

extension PairingQuestion {
    /// Whether an answer fits this question; a number that is shown can only be rejected.
    fileprivate func takes(_ answer: PairingAnswer) -> Bool {
        switch (self, answer) {
        case (_, .reject): true
        case (.consent, .accept), (.confirm, .accept), (.outOfBand, .accept): true
        case (.enterPasskey, .passkey(let number)): (0...999_999).contains(number)
        default: false
        }
    }
}
