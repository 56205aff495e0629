import BluetoothBackend
import BluetoothSupport
import DequeModule

/// An open L2CAP channel, which carries bytes in both directions as the receiver has room.
///
/// Source: Core Specification, Vol 3, Part A, 10.1 (credit-based flow control).
struct Channel: Sendable {
    /// The bytes that one side sends.
    struct Direction: Sendable {
        private(set) var queue = Deque<Data>()
        /// The number of bytes in the queue.
        private(set) var queued = 0
        /// The number of bytes that the sender may send.
        var credits: Int
        /// The number of bytes that the receiver has not consumed.
        var unconsumed = 0
        /// Whether the next transmission is scheduled.
        var isMoving = false
        /// Whether the sender has closed its end; the channel closes after everything sent has been delivered.
        var isEnding = false

        /// Accepts bytes: of a manager, for its credits; of a described device, whose bytes wait for credits, without a
        /// limit.
        ///
        /// - Returns: Whether there are enough credits; nil if the sender has closed its end.
        mutating func accept(_ data: Data, isMetered: Bool) -> Bool? {
            guard !isEnding else { return nil }
            if isMetered {
                guard data.count <= credits else { return false }
                credits -= data.count
            }
            queue.append(data)
            queued += data.count
            return true
        }

        /// Removes at most `limit` bytes from the front of the queue.
        mutating func dequeue(_ limit: Int) -> Data {
            var (room, taken) = (limit, Data())
            while room > 0, let head = queue.popFirst() {
                let part = head.prefix(room)
                // A slice, because a copy of the rest for each packet would be quadratic for long values.
                if part.count < head.count { queue.prepend(head.dropFirst(part.count)) }
                room -= part.count
                if taken.isEmpty { taken = part.startIndex == 0 ? part : Data(part) } else { taken.append(part) }
            }
            queued -= taken.count
            unconsumed += taken.count
            return taken
        }

        /// Returns credits for consumed bytes; at most as many as are not consumed.
        mutating func returnCredits(_ bytes: Int) -> Int {
            let count = min(bytes, unconsumed)
            unconsumed -= count
            credits += count
            return count
        }

        /// Closes the sender's end.
        ///
        /// - Returns: Whether a last transmission must be scheduled; nil if the end is closed.
        mutating func end() -> Bool? {
            guard !isEnding else { return nil }
            isEnding = true
            return !exchange(&isMoving, with: true)
        }

        /// Closes the sender's end and drops its bytes; returns false if the end is closed.
        mutating func abort() -> Bool {
            guard !isEnding else { return false }
            (isEnding, queue, queued) = (true, [], 0)
            return true
        }
    }

    /// An event that a described device's handler receives.
    typealias DeviceNotice = (device: Ref<Device>, event: DeviceEvent)

    /// The number of bytes that may wait for the credits of a central that an echo is sent back to.
    private static let echoLimit = 1_048_576

    /// The user of one side.
    enum User: Hashable, Sendable {
        case manager(Ref<Manager>)
        /// A described device.
        case device(Ref<Device>)
    }

    let id: ChannelID
    let link: Ref<Link>
    /// The device of the link.
    let device: Ref<Device>
    let psm: UInt16
    let client: Ref<Manager>
    /// The manager at the other end; nil if it is a described device.
    let server: Ref<Manager>?
    /// Whether a described device sends back what it receives.
    let isEcho: Bool
    private var fromCentral: Direction
    private var fromPeripheral: Direction

    init(
        _ id: ChannelID, on link: Ref<Link>, to device: Ref<Device>, psm: UInt16, client: Ref<Manager>,
        server: Ref<Manager>?, isEcho: Bool, credits: Int
    ) {
        (self.id, self.link, self.device, self.psm) = (id, link, device, psm)
        (self.client, self.server, self.isEcho) = (client, server, isEcho)
        fromCentral = Direction(credits: credits)
        fromPeripheral = Direction(credits: credits)
    }

    /// The bytes that a side sends.
    subscript(side: LinkSide) -> Direction {
        _read {
            switch side {
            case .central: yield fromCentral
            case .peripheral: yield fromPeripheral
            }
        }
        _modify {
            switch side {
            case .central: yield &fromCentral
            case .peripheral: yield &fromPeripheral
            }
        }
    }

    /// Returns the manager at a side; nil for a described device.
    private func manager(_ side: LinkSide) -> Ref<Manager>? { side == .central ? client : server }

    /// Sends an event to the manager at a side.
    ///
    /// - Returns: Whether the side has a manager; a described device has none.
    func emit(_ event: ChannelEvent, to side: LinkSide, _ context: inout WorldContext) -> Bool {
        guard let manager = manager(side) else { return false }
        switch side {
        case .central: context.emit(CentralEvent.channel(id, event), to: manager)
        case .peripheral: context.emit(PeripheralEvent.channel(id, event), to: manager)
        }
        return true
    }

    // MARK: Commands

    /// Returns the side of a user; nil if it does not use the channel.
    private func side(of user: User) -> LinkSide? {
        if user == .manager(client) { return .central }
        return user == server.map(User.manager) ?? .device(device) ? .peripheral : nil
    }

    /// Handles a command of a user; bytes beyond a manager's credits are dropped.
    mutating func handle(_ command: ChannelCommand, of user: User, _ lower: inout LowerLayers) {
        guard let side = side(of: user) else { return }
        switch command {
        case .send(let data): send(data, by: side, &lower)
        case .consumed(let bytes): consume(bytes, from: side.other, &lower)
        case .close: close(side, &lower)
        }
    }

    private mutating func send(_ data: Data, by side: LinkSide, _ lower: inout LowerLayers) {
        switch self[side].accept(data, isMetered: manager(side) != nil) {
        case true?: move(side, &lower)
        case false?: lower.context.log("bytes without credit on channel \(id) dropped")
        case nil: break
        }
    }

    /// Closes a side's end; bytes sent before still arrive.
    private mutating func close(_ side: LinkSide, _ lower: inout LowerLayers) {
        guard self[side].end() == true, let link = lower.links[link] else { return }
        lower.context.queue.schedule(
            .channelTransmit(id, side), at: link.timing.connectionEvent(from: lower.context.now))
    }

    // MARK: Sending

    /// Removes the bytes to send now: at most `limit`, and from a described device at most its credits.
    private mutating func dequeue(from side: LinkSide, limit: Int) -> Data {
        let isMetered = manager(side) == nil
        let taken = self[side].dequeue(isMetered ? min(limit, self[side].credits) : limit)
        if isMetered { self[side].credits -= taken.count }
        return taken
    }

    /// Returns the number of bytes that a side may send at once, at most `limit`.
    private func available(from side: LinkSide, limit: Int) -> Int {
        min(self[side].queued, manager(side) == nil ? min(limit, self[side].credits) : limit)
    }

    /// Returns whether a side has bytes that it may send.
    private func canMove(_ side: LinkSide) -> Bool {
        !self[side].queue.isEmpty && (manager(side) != nil || self[side].credits > 0)
    }

    /// Schedules the first transmission of a side that has something to send.
    private mutating func move(_ side: LinkSide, _ lower: inout LowerLayers) {
        guard !self[side].isMoving, canMove(side) || self[side].isEnding, let link = lower.links[link] else { return }
        self[side].isMoving = true
        let due = link.timing.connectionEvent(from: lower.context.now)
        lower.schedule(.channelTransmit(id, side), on: self.link, link, at: due)
    }

    /// Sends as many bytes as a connection event carries.
    ///
    /// - Returns: The bytes; nil if the side does not send in this event.
    mutating func transmit(_ side: LinkSide, _ lower: inout LowerLayers) -> Data? {
        let timing = lower.links.beginTransmission(
            .channelTransmit(id, side), of: .channel(id), by: side, on: link, &lower.context)
        guard let timing else { return nil }
        self[side].isMoving = false
        guard timing.eventLength > 0 else { return dequeue(from: side, limit: .max) }
        var data = Data()
        while true {
            let wanted = available(from: side, limit: timing.channelPayload)
            let length = timing.dataLength - timing.channelPayload + wanted
            guard wanted > 0, lower.links.send(length, of: .channel(id), by: side, on: link) == length else {
                return data
            }
            data.append(dequeue(from: side, limit: wanted))
        }
    }

    /// Schedules the next transmission of a side; returns whether the channel ends instead.
    mutating func continueTransmitting(_ side: LinkSide, _ lower: inout LowerLayers) -> Bool {
        if isEcho, side == .peripheral { takeConsumed(of: .central, &lower) }
        guard canMove(side) else { return self[side].isEnding && self[side].queue.isEmpty }
        self[side].isMoving = true
        guard let link = lower.links[link] else { return false }
        lower.schedule(
            .channelTransmit(id, side), on: self.link, link, at: lower.context.now + link.timing.interval)
        return false
    }

    // MARK: Receiving

    /// Delivers the bytes that a side sent.
    mutating func receive(_ data: Data, from side: LinkSide, _ lower: inout LowerLayers) -> DeviceNotice? {
        guard !data.isEmpty else { return nil }
        if lower.context.tapped.contains(.channels) { lower.context.report(.channelData(id, from: side, data)) }
        // A side that closed its end receives nothing more.
        let isEnding = self[side.other].isEnding
        if !isEnding, emit(.received(data), to: side.other, &lower.context) { return nil }
        takeConsumed(of: side, &lower)
        guard !isEnding else { return nil }
        if isEcho { send(data, by: .peripheral, &lower) }
        return (device, .channelReceived(id, data))
    }

    /// Returns the credits for bytes that a described device has taken: at once, unless its echo waits for too many.
    private mutating func takeConsumed(of side: LinkSide, _ lower: inout LowerLayers) {
        guard self[side].unconsumed > 0, !isEcho || self[side.other].queued < Self.echoLimit else { return }
        grantCredits(self[side].unconsumed, to: side, &lower)
    }

    /// Consumes bytes that a side sent; the credits return with the next connection event.
    private mutating func consume(_ bytes: Int, from side: LinkSide, _ lower: inout LowerLayers) {
        guard let link = lower.links[link] else { return }
        let due = link.timing.connectionEvent(from: lower.context.now)
        if due == lower.context.now { return grantCredits(bytes, to: side, &lower) }
        lower.context.queue.schedule(.channelCredits(id, bytes, to: side), at: due)
    }

    /// Returns credits to a sender.
    mutating func grantCredits(_ bytes: Int, to side: LinkSide, _ lower: inout LowerLayers) {
        guard !lower.links.isMissed(.channelCredits(id, bytes, to: side), on: link) else { return }
        let count = self[side].returnCredits(bytes)
        guard count > 0 else { return }
        if lower.context.tapped.contains(.channels) { lower.context.report(.channelCredits(id, to: side, count)) }
        if !emit(.credits(count), to: side, &lower.context) { move(side, &lower) }
    }

    // MARK: Ending

    /// Reports the end of the channel to a side.
    func reportClosed(to side: LinkSide, _ context: inout WorldContext) -> DeviceNotice? {
        emit(.closed, to: side, &context) ? nil : (device, .channelClosed(id))
    }
}
