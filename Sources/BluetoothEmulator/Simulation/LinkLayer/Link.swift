import BluetoothBackend
import BluetoothSupport
import DequeModule

/// A physical link between a host and a device: ATT with one request at a time, on connection events.
///
/// The client's operations stand in one line and go in order, one outstanding; the server's notifications stand in
/// another. An idle link schedules nothing: the instants of its connection events are computed.
struct Link: Sendable {
    /// What the server sends by itself.
    enum Outgoing: Sendable {
        /// A value, of a manager that gets its credit back or of a described device.
        case value(AttributeID, Data, needsConfirmation: Bool, sender: Ref<Manager>?)
        case servicesChanged(removed: [AttributeID], added: [ServiceRecord])
        /// What a fault holds up; nil: until it is resumed.
        indirect case held(Outgoing, until: Nanoseconds?)

        /// What it is once it goes out.
        var content: Outgoing {
            if case .held(let item, _) = self { item } else { self }
        }
    }

    enum Subscription: Sendable {
        case notifications
        case indications
    }

    let host: Int
    let device: Ref<Device>
    let peer: PeerID
    /// The same physical link the other way round, where two hosts connected to each other.
    var other: Ref<Link>?
    /// The central, as the managers of a host that serves know it.
    var central: PeerID?
    /// The central's address, as the device knows it.
    var centralAddress: DeviceAddress?
    var interval: Nanoseconds
    /// The parameters that the device asked for, until they are in force.
    var wanted: ConnectionParameters?
    /// How many connection events the device may leave out.
    var latency = 0
    var supervisionTimeout: Nanoseconds
    /// When the first connection event with this interval was.
    var anchor: Nanoseconds
    var mtu: Int
    var security = LinkSecurity.plain
    var pairing: Pairing?
    /// A pairing timed out: no other may follow on this link.
    var isPairingBarred = false
    /// What the client believes the database to be, where it trusts its memory.
    var cache: AttributeDatabase?

    var operations = Deque<LinkOperation>()
    /// A request is outstanding, or write commands wait for the next connection event.
    var isBusy = false
    /// A long read whose last parts are on the way, and its response.
    var finishing: (operation: LinkOperation, response: LinkResponse)?
    /// The request that an asynchronous handler or a manager has.
    var pendingRequest: PendingRequest?
    /// A request that a fault holds up.
    var postponed: Postponed?
    /// Operations that a fault holds up and that are no requests: they hold up nothing else.
    var deferredOperations: [Postponed] = []
    /// Write commands that a fault holds up at the device, and those behind them.
    var deferredCommands = Deque<Postponed>()
    /// A long read whose next part is under way to the server.
    var continuing: PendingRequest?
    var transactionTimeout: WorldQueue.Token?

    /// The open L2CAP channels, in the order of birth.
    var channels: [ChannelID] = []

    var outgoing = Deque<Outgoing>()
    var isSending = false
    /// A fault holds up the head of the device's line until it is resumed.
    var isStalled = false
    /// The client characteristic configuration of this central.
    var subscriptions: [AttributeID: Subscription] = [:]
    /// How many values each manager with a subscription may send.
    var notifyCredits: [Ref<Manager>: Int] = [:]

    /// Nothing is heard: the device is out of range.
    var isSilent = false
    /// The device does not know of the link any more; it will die by supervision timeout.
    var isLost = false
    var isClosing = false
    var supervision: WorldQueue.Token?
    /// What was due in silence.
    var missed: [WorldEvent] = []

    /// A request that somebody else answers.
    struct PendingRequest: Sendable {
        var number: UInt64
        let operation: LinkOperation
        /// Nil where an asynchronous handler answers.
        var manager: Ref<Manager>?
        /// What was read so far.
        var collected = Data()
    }

    /// An operation that is done later.
    struct Postponed: Sendable {
        let operation: LinkOperation
        /// Nil while it is paused.
        var due: Nanoseconds?
    }

    /// What goes out next.
    enum Start: Sendable {
        /// Write commands, at that instant.
        case transmit(at: Nanoseconds)
        /// A read, whose answer comes at that instant.
        case read(answerAt: Nanoseconds)
        /// Another request, at that instant.
        case request(at: Nanoseconds)
    }

    /// An operation whose answer arrived, and what serving it needs.
    struct CompletedRequest: Sendable {
        let operation: LinkOperation
        let host: Int
        let device: Ref<Device>
        let interval: Nanoseconds
        let mtu: Int
        let security: LinkSecurity
    }

    func answered(_ operation: LinkOperation) -> CompletedRequest {
        CompletedRequest(
            operation: operation, host: host, device: device, interval: interval, mtu: mtu, security: security)
    }

    /// Keeps what is due on a silent link for later.
    ///
    /// - Returns: Whether the link is silent.
    mutating func misses(_ event: WorldEvent) -> Bool {
        if isSilent { missed.append(event) }
        return isSilent
    }

    /// Puts an operation at the end of the line; takes the head of the line in hand if the link is free.
    mutating func enqueue(_ operation: LinkOperation, at now: Nanoseconds) -> Start? {
        operations.append(operation)
        return start(at: now)
    }

    /// The link is free; takes the head of the line in hand.
    mutating func release(at now: Nanoseconds) -> Start? {
        isBusy = false
        return start(at: now)
    }

    private mutating func start(at now: Nanoseconds) -> Start? {
        guard !isBusy, let head = operations.first else { return nil }
        isBusy = true
        let event = latency == 0 ? connectionEvent(from: now) : listeningEvent(from: now)
        switch head.kind {
        case .writeCommand: return .transmit(at: event)
        case .request(.read): return .read(answerAt: event + interval)
        default: return .request(at: event)
        }
    }

    /// The answer to the head of the line arrives; nil where nothing is heard, which is kept for later.
    mutating func takeCompletedRequest(_ ref: Ref<Link>) -> CompletedRequest? {
        guard !misses(.answer(ref)), let operation = operations.popFirst() else { return nil }
        return answered(operation)
    }

    /// Takes the write command at the head of the line.
    mutating func takeWriteCommand() -> CompletedRequest? {
        guard let head = operations.first, head.kind.isWriteCommand else { return nil }
        operations.removeFirst()
        return answered(head)
    }

    /// After write commands went out: when the next ones do, or what else goes out next.
    mutating func continueTransmitting(at now: Nanoseconds) -> Start? {
        if operations.first?.kind.isWriteCommand == true { return .transmit(at: now + interval) }
        return release(at: now)
    }

    /// The operation that an asynchronous handler answers, if it is still waited for.
    mutating func takePendingRequest(_ number: UInt64) -> CompletedRequest? {
        guard let waiting = pendingRequest, waiting.number == number else { return nil }
        pendingRequest = nil
        return answered(waiting.operation)
    }

    /// The first connection event at or after an instant at which the device listens.
    private func listeningEvent(from instant: Nanoseconds) -> Nanoseconds {
        let period = interval * Nanoseconds(latency + 1)
        guard period > 0 else { return instant }
        let (count, rest) = (instant - anchor).quotientAndRemainder(dividingBy: period)
        return rest == 0 ? instant : anchor + (count + 1) * period
    }

    /// The first connection event at or after an instant.
    func connectionEvent(from instant: Nanoseconds) -> Nanoseconds {
        guard interval > 0 else { return instant }
        let (count, rest) = (instant - anchor).quotientAndRemainder(dividingBy: interval)
        return rest == 0 ? instant : anchor + (count + 1) * interval
    }
}

/// The world's queue.
typealias WorldQueue = EventQueue<WorldEvent, WorldInput>
