import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import DequeModule

/// An operation in a link's queue.
struct LinkOperation: Sendable {
    enum Kind: Sendable {
        case request(LinkRequest)
        case writeCommand(AttributeID, Data)
        /// The read of the GAP Device Name by the host itself.
        case deviceName
        /// A request of one packet, whose response of one packet its sender knows.
        case exchange

        var isRead: Bool { if case .request(.read) = self { true } else { false } }

        var isDiscovery: Bool { if case .request(let request) = self { request.isDiscovery } else { false } }

        /// The bytes and the offset of a write; nil for other operations.
        var written: WritePart? {
            switch self {
            case .request(.write(let attribute, let value, let offset)):
                WritePart(attribute: attribute, offset: Int(offset), value: value)
            case .writeCommand(let attribute, let value): WritePart(attribute: attribute, offset: 0, value: value)
            default: nil
            }
        }

        var isWriteCommand: Bool { if case .writeCommand = self { true } else { false } }

        /// Whether the operation is an ATT request, of which a link has one outstanding.
        var isATTRequest: Bool {
            switch self {
            case .request(.readRSSI), .request(.openChannel), .writeCommand: false
            default: true
            }
        }
    }

    let manager: Ref<Manager>
    var link = LinkID(rawValue: 0)
    var operation = OperationID(rawValue: 0)
    let kind: Kind
    /// Whether the operation is sent again after a refusal because the link was not encrypted.
    var isRetried = false
    /// Whether the operation's fault has been applied.
    var isAdmitted = false
    /// The fault of the answer; nil for an operation that is answered as usual.
    var answerFault: DeviceFault.Effect?
}

/// The client's side of ATT on a link: the operations wait in one queue and run in order, one outstanding.
struct LinkClient: Sendable {
    /// The database as the client remembers it; nil if the client does not trust its memory.
    var cache: AttributeDatabase?
    var operations = Deque<LinkOperation>()
    /// The bytes of the write command at the head of the queue that earlier connection events carried.
    var bytesSent = 0
    /// Whether a request is outstanding, or write commands wait for the next connection event.
    var isBusy = false
    /// The response whose last parts are under way.
    var finishing: (operation: LinkOperation, response: LinkResponse)?
    var deferred = DeferredOperations()
    /// The instant at which the head of the queue was sent.
    var startedAt: Nanoseconds = 0
    /// Whether the taps have the request but not its response.
    var hasReportedRequest = false

    /// The next transmission.
    enum Start: Sendable {
        /// Write commands, sent at that instant.
        case transmit(at: Nanoseconds)
        /// A read, whose answer arrives at that instant.
        case read(answerAt: Nanoseconds)
        /// Another request, sent at that instant.
        case request(at: Nanoseconds)
    }

    /// Returns whether the taps have a request without its response, and marks that they have the response.
    mutating func takeReportedRequest() -> Bool { exchange(&hasReportedRequest, with: false) }

    /// The length of the write command at the head of the queue, and the number of its bytes that were sent; nil if
    /// another operation is there.
    var firstCommandLength: (length: Int, sent: Int)? {
        guard case .writeCommand(_, let value)? = operations.first?.kind else { return nil }
        return (ATTLimits.valueHeader + value.count, bytesSent)
    }

    /// Removes the write command at the head of the queue; returns nil if another operation is there.
    mutating func takeWriteCommand() -> LinkOperation? {
        guard let head = operations.first, head.kind.isWriteCommand else { return nil }
        operations.removeFirst()
        bytesSent = 0
        return head
    }

    /// Starts the head of the queue, if the link is idle.
    mutating func start(_ timing: LinkTiming, at now: Nanoseconds) -> Start? {
        guard !isBusy, let head = operations.first else { return nil }
        (isBusy, startedAt) = (true, now)
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
    struct Postponed: Sendable {
        let operation: LinkOperation
        /// The time at which the operation continues; nil while it is paused.
        var due: Nanoseconds?

        func isDue(at now: Nanoseconds) -> Bool { due.map { $0 <= now } ?? false }
    }

    /// The operations: at most one ATT request, which holds up the link; write commands, which hold up those behind
    /// them; others, which hold up nothing.
    private var postponed: [Postponed] = []

    var hasCommands: Bool { postponed.contains { $0.operation.kind.isWriteCommand } }

    mutating func postpone(_ operation: LinkOperation, until due: Nanoseconds?) {
        postponed.append(Postponed(operation: operation, due: due))
    }

    /// Makes all paused operations due.
    mutating func resume(at now: Nanoseconds) {
        for index in postponed.indices { postponed[index].due = postponed[index].due ?? now }
    }

    /// Removes the ATT request, if it is due.
    mutating func takeRequest(at now: Nanoseconds) -> LinkOperation? {
        takeFirst(at: now) { $0.operation.kind.isATTRequest }
    }

    /// Removes the first write command, if it is due.
    mutating func takeCommand(at now: Nanoseconds) -> LinkOperation? {
        takeFirst(at: now) { $0.operation.kind.isWriteCommand }
    }

    /// Removes another due operation, to be enqueued again.
    mutating func takeOther(at now: Nanoseconds) -> LinkOperation? {
        var operation = takeFirst(at: now) {
            !$0.operation.kind.isATTRequest && !$0.operation.kind.isWriteCommand && $0.isDue(at: now)
        }
        operation?.isAdmitted = true
        return operation
    }

    private mutating func takeFirst(at now: Nanoseconds, where matches: (Postponed) -> Bool) -> LinkOperation? {
        guard let index = postponed.firstIndex(where: matches), postponed[index].isDue(at: now) else { return nil }
        return postponed.remove(at: index).operation
    }
}
