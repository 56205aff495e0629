import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import DequeModule

/// The server's side of ATT on a link: the central's subscriptions, the open request, and the queue of values.
struct LinkServer: Sendable {
    /// A value or event that the server sends on its own initiative.
    enum Outgoing: Sendable {
        /// A value of a described device, or of a manager that gets its credit back.
        case value(AttributeID, Data, needsConfirmation: Bool, sender: Ref<Manager>?)
        case servicesChanged(removed: [AttributeID], added: [ServiceRecord])
        /// Content that a fault holds up; until the device resumes if `until` is nil.
        indirect case held(Outgoing, until: Nanoseconds?)
        /// Content after which a fault loses the link.
        indirect case last(Outgoing)

        /// The value or event of an item that meets a fault.
        var content: Outgoing {
            switch self {
            case .held(let item, _), .last(let item): item
            case .value, .servicesChanged: self
            }
        }

        /// The length of the ATT PDU, in bytes: opcode, handle and value.
        var length: Int {
            switch self {
            case .value(_, let value, _, _): ATTLimits.valueHeader + value.count
            // Service Changed carries a range of handles.
            case .servicesChanged: ATTLimits.valueHeader + 4
            case .held(let item, _), .last(let item): item.length
            }
        }

        /// Returns a malformed value that fits into a packet; an event stays as it is.
        func corrupted(by random: UInt64, mtu: Int) -> Outgoing {
            guard case .value(let attribute, let value, let needsConfirmation, let sender) = self else { return self }
            return .value(
                attribute, value.malformed(by: random, upTo: ATTLimits.written(mtu: mtu)),
                needsConfirmation: needsConfirmation, sender: sender)
        }
    }

    /// The bit of the Client Characteristic Configuration (Core Specification, Vol 3, Part G, 3.3.3.3).
    enum Subscription: UInt8, Sendable {
        case notifications = 1
        case indications = 2
    }

    /// A request that an asynchronous handler or a manager answers.
    struct PendingRequest: Sendable {
        let number: UInt64
        let operation: LinkOperation
        /// The manager that answers; nil if an asynchronous handler answers.
        var manager: Ref<Manager>?
        /// The part of the value that has been read so far.
        var collected = Data()
    }

    /// The request that awaits an asynchronous handler or a manager.
    var pendingRequest: PendingRequest?
    /// The long read whose next part is on its way to the server.
    var continuing: PendingRequest?
    var transactionTimeout: WorldQueue.Token?

    /// The client characteristic configuration of this central.
    var subscriptions: [AttributeID: Subscription] = [:]
    /// The number of values that each manager with a subscription may send.
    var notifyCredits: [Ref<Manager>: Int] = [:]
    var outgoing = Deque<Outgoing>()
    /// The bytes of the head of the queue that earlier connection events carried.
    var bytesSent = 0
    var isSending = false
    /// Whether a fault holds up the head of the queue until the device resumes.
    var isStalled = false

    /// The value of the Client Characteristic Configuration of a characteristic.
    func clientConfiguration(of characteristic: AttributeID) -> Data {
        Data([subscriptions[characteristic]?.rawValue ?? 0, 0])
    }

    // MARK: Requests

    /// Removes the open request, if it matches.
    mutating func takePending(if matches: (PendingRequest) -> Bool) -> PendingRequest? {
        guard let pending = pendingRequest, matches(pending) else { return nil }
        pendingRequest = nil
        return pending
    }

    /// Ends everything that belongs to the central, when the server's end of the link ends.
    mutating func centralLeft() {
        pendingRequest = nil
        subscriptions = [:]
    }

    mutating func unsubscribe(from removed: [AttributeID]) {
        for attribute in removed { subscriptions[attribute] = nil }
    }

    // MARK: Credits

    /// Spends a manager's credit for a value; returns whether there was one.
    mutating func spendCredit(of manager: Ref<Manager>) -> Bool {
        guard let credits = notifyCredits[manager], credits > 0 else { return false }
        notifyCredits[manager] = credits - 1
        return true
    }

    /// Returns credits to a manager that has a subscriber; returns whether it has.
    mutating func returnCredits(_ count: Int, to manager: Ref<Manager>) -> Bool {
        guard let credits = notifyCredits[manager] else { return false }
        notifyCredits[manager] = credits + count
        return true
    }

    /// Grants a manager its first credits; returns false if it has some.
    mutating func grantCredits(_ count: Int, to manager: Ref<Manager>) -> Bool {
        guard notifyCredits[manager] == nil else { return false }
        notifyCredits[manager] = count
        return true
    }

    // MARK: Sending

    /// Appends an item; returns whether the next transmission must be scheduled.
    mutating func append(_ item: Outgoing) -> Bool {
        outgoing.append(item)
        return !exchange(&isSending, with: true)
    }

    /// The length of the head of the queue, and the number of its bytes that were sent.
    var firstLength: (length: Int, sent: Int)? { outgoing.first.map { ($0.length, bytesSent) } }

    // MARK: Held values

    /// Whether the head of the queue may be sent at an instant.
    enum Readiness: Sendable {
        case ready
        case at(Nanoseconds)
        case stalled
    }

    /// Makes the head of the queue ready, if it may be sent.
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

    /// Releases the values that are paused.
    mutating func resume() {
        for index in outgoing.indices { if case .held(let item, nil) = outgoing[index] { outgoing[index] = item } }
    }

    /// Ends a stall whose cause is gone.
    ///
    /// - Returns: Whether a stall ended.
    mutating func unstall() -> Bool {
        guard isStalled else { return false }
        if case .held(_, nil)? = outgoing.first { return false }
        isStalled = false
        return true
    }

    /// Drops the queued values of a characteristic.
    ///
    /// - Returns: The senders of the dropped values.
    mutating func dropOutgoing(of attribute: AttributeID) -> [Ref<Manager>] {
        var dropped: [Ref<Manager>] = []
        if case .value(attribute, _, _, _?)? = outgoing.first?.content { bytesSent = 0 }
        outgoing.removeAll { item in
            guard case .value(attribute, _, _, let sender?) = item.content else { return false }
            dropped.append(sender)
            return true
        }
        return dropped
    }
}

extension LinkServer.Subscription {
    /// Prefers notifications if the properties offer both.
    init(preferredBy properties: CharacteristicProperties) {
        self = properties.contains(.notify) ? .notifications : .indications
    }
}
