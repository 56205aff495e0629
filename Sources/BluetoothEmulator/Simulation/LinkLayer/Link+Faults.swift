import DequeModule

// What faults hold up on a link.
extension Link {
    /// Nothing is paused any more.
    mutating func resume(at now: Nanoseconds) {
        if postponed != nil, postponed?.due == nil { postponed?.due = now }
        for index in deferredOperations.indices where deferredOperations[index].due == nil {
            deferredOperations[index].due = now
        }
        for index in deferredCommands.indices where deferredCommands[index].due == nil {
            deferredCommands[index].due = now
        }
        for index in outgoing.indices {
            if case .held(let item, nil) = outgoing[index] { outgoing[index] = item }
        }
    }

    /// The request that is due.
    mutating func takePostponed(at now: Nanoseconds) -> CompletedRequest? {
        guard let request = postponed, let due = request.due, due <= now else { return nil }
        postponed = nil
        return answered(request.operation)
    }

    /// The write command that is due, if none before it waits.
    mutating func takeLate(at now: Nanoseconds) -> CompletedRequest? {
        guard let head = deferredCommands.first, let due = head.due, due <= now else { return nil }
        deferredCommands.removeFirst()
        return answered(head.operation)
    }

    /// What is no request and due, to be put in line again.
    mutating func takeAside(at now: Nanoseconds) -> [LinkOperation] {
        let isDue = { (postponed: Postponed) in postponed.due.map { $0 <= now } ?? false }
        let operations = deferredOperations.filter(isDue).map { postponed in
            var operation = postponed.operation
            operation.isAdmitted = true
            return operation
        }
        deferredOperations.removeAll(where: isDue)
        return operations
    }

    /// Whether the head of the device's line may go out at an instant; what was held until then is made ready.
    enum Readiness: Sendable {
        case ready
        case at(Nanoseconds)
        case stalled
    }

    /// Makes the head of the device's line ready, if it may be.
    mutating func prepareOutgoing(at now: Nanoseconds) -> Readiness {
        guard case .held(let item, let due)? = outgoing.first else { return .ready }
        guard let due else {
            isStalled = true
            return .stalled
        }
        guard due <= now else { return .at(due) }
        outgoing[outgoing.startIndex] = item
        return .ready
    }
}
