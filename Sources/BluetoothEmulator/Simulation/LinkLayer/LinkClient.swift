import BluetoothBackend
import BluetoothSupport
import DequeModule

/// An operation in a link's queue.
struct LinkOperation: Sendable {
    enum Kind: Sendable {
        /// A request of a manager.
        case request(LinkRequest)
        /// A write command of a manager.
        case writeCommand(AttributeID, Data)
        /// The host's own read of the GAP Device Name.
        case deviceName

        var isRead: Bool {
            if case .request(.read) = self { true } else { false }
        }

        var isDiscovery: Bool {
            if case .request(let request) = self { request.isDiscovery } else { false }
        }

        var isWriteCommand: Bool {
            if case .writeCommand = self { true } else { false }
        }

        /// Whether it is an ATT request, of which a link has one outstanding.
        var isATTRequest: Bool {
            switch self {
            case .request(.readRSSI), .request(.openChannel), .writeCommand: false
            default: true
            }
        }
    }

    let manager: Ref<Manager>
    let link: LinkID
    let operation: OperationID
    let kind: Kind
    /// Whether it was refused once because the link was not encrypted, and is sent again.
    var isRetried = false
    /// Whether its fault has been applied.
    var isAdmitted = false
}

/// The client's side of ATT on a link: a queue of operations, one outstanding.
struct LinkClient: Sendable {
    /// The database as the client believes it to be, where it trusts its memory.
    var cache: AttributeDatabase?
    var operations = Deque<LinkOperation>()
    /// A request is outstanding, or write commands wait for the next connection event.
    var isBusy = false
    /// A response whose last parts are under way.
    var finishing: (operation: LinkOperation, response: LinkResponse)?
    /// The operations that a fault holds up.
    var deferred = DeferredOperations()

    /// The next transmission.
    enum Start: Sendable {
        /// Write commands, at that instant.
        case transmit(at: Nanoseconds)
        /// A read, whose answer arrives at that instant.
        case read(answerAt: Nanoseconds)
        /// Another request, at that instant.
        case request(at: Nanoseconds)
    }

    /// Starts the head of the queue, if the link is free.
    mutating func start(_ timing: LinkTiming, at now: Nanoseconds) -> Start? {
        guard !isBusy, let head = operations.first else { return nil }
        isBusy = true
        let event = timing.listeningEvent(from: now)
        switch head.kind {
        case .writeCommand: return .transmit(at: event)
        case .request(.read): return .read(answerAt: event + timing.interval + timing.delays.read)
        default: return .request(at: event)
        }
    }
}

/// The operations of a link that faults hold up.
struct DeferredOperations: Sendable {
    /// An operation that is done later.
    struct Postponed: Sendable {
        let operation: LinkOperation
        /// Nil while it is paused.
        var due: Nanoseconds?

        mutating func resume(at now: Nanoseconds) { due = due ?? now }

        func isDue(at now: Nanoseconds) -> Bool { due.map { $0 <= now } ?? false }
    }

    /// An ATT request; it holds up the link.
    private var request: Postponed?
    /// Operations that are no ATT requests; they hold up nothing else.
    private var others: [Postponed] = []
    /// Write commands that are held up at the device, and those behind them.
    private var commands = Deque<Postponed>()

    var hasCommands: Bool { !commands.isEmpty }

    mutating func postpone(_ operation: LinkOperation, until due: Nanoseconds?) {
        let postponed = Postponed(operation: operation, due: due)
        if operation.kind.isATTRequest { request = postponed } else { others.append(postponed) }
    }

    mutating func postponeCommand(_ operation: LinkOperation, until due: Nanoseconds?) {
        commands.append(Postponed(operation: operation, due: due))
    }

    /// Makes all that is paused due.
    mutating func resume(at now: Nanoseconds) {
        request?.resume(at: now)
        for index in others.indices { others[index].resume(at: now) }
        for index in commands.indices { commands[index].resume(at: now) }
    }

    /// The ATT request, if it is due.
    mutating func takeRequest(at now: Nanoseconds) -> LinkOperation? {
        guard let postponed = request, postponed.isDue(at: now) else { return nil }
        request = nil
        return postponed.operation
    }

    /// The first write command, if it is due.
    mutating func takeCommand(at now: Nanoseconds) -> LinkOperation? {
        guard let head = commands.first, head.isDue(at: now) else { return nil }
        return commands.removeFirst().operation
    }

    /// The other operations that are due, to be enqueued again.
    mutating func takeOthers(at now: Nanoseconds) -> [LinkOperation] {
        let due = others.filter { $0.isDue(at: now) }
        others.removeAll { $0.isDue(at: now) }
        return due.map { postponed in
            var operation = postponed.operation
            operation.isAdmitted = true
            return operation
        }
    }
}
