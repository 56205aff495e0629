import BluetoothBackend
import BluetoothSupport
import DequeModule

/// An open L2CAP channel, which carries bytes in both directions as the receiver has room.
///
/// Source: Core Specification, Vol 3, Part A, 10.1 (credit-based flow control).
struct Channel: Sendable {
    /// The bytes that one side sends.
    struct Direction: Sendable {
        var queue = Deque<Data>()
        /// The number of bytes that the sender may send.
        var credits: Int
        /// The number of bytes that the receiver has not consumed.
        var unconsumed = 0
        /// Whether the next transmission is scheduled.
        var isMoving = false
        /// Whether the sender has closed its end; the channel closes after everything sent has been delivered.
        var isEnding = false

        /// Accepts bytes of a manager, for its credits.
        ///
        /// - Returns: Whether there are enough credits; nil if the sender has closed its end.
        mutating func accept(_ data: Data) -> Bool? {
            guard !isEnding else { return nil }
            guard data.count <= credits else { return false }
            credits -= data.count
            queue.append(data)
            return true
        }

        /// Accepts bytes of a described device, which wait for credits without a limit; returns false if the device has
        /// closed its end.
        mutating func acceptUnmetered(_ data: Data) -> Bool {
            if !isEnding { queue.append(data) }
            return !isEnding
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
            defer { isMoving = true }
            return !isMoving
        }

        /// Closes the sender's end and drops its bytes; returns false if the end is closed.
        mutating func abort() -> Bool {
            guard !isEnding else { return false }
            (isEnding, queue) = (true, [])
            return true
        }
    }

    /// The next step after a transmission of a side.
    enum Continuation: Sendable {
        case transmit
        case end
    }

    let link: Ref<Link>
    let psm: UInt16
    let client: Ref<Manager>
    /// The manager at the other end; nil if it is a described device.
    let server: Ref<Manager>?
    private var fromCentral: Direction
    private var fromPeripheral: Direction

    init(link: Ref<Link>, psm: UInt16, client: Ref<Manager>, server: Ref<Manager>?, credits: Int) {
        self.link = link
        self.psm = psm
        self.client = client
        self.server = server
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
    func manager(_ side: LinkSide) -> Ref<Manager>? { side == .central ? client : server }

    /// Removes the bytes to send now: at most `limit`, and from a described device at most its credits.
    mutating func dequeue(from side: LinkSide, limit: Int) -> Data {
        let isMetered = manager(side) == nil
        var room = isMetered ? min(limit, self[side].credits) : limit
        var taken = Data()
        while room > 0, let head = self[side].queue.popFirst() {
            let part = head.prefix(room)
            // A slice, because a copy of the rest for each packet would be quadratic for long values.
            if part.count < head.count { self[side].queue.prepend(head.dropFirst(part.count)) }
            room -= part.count
            if taken.isEmpty { taken = part.startIndex == 0 ? part : Data(part) } else { taken.append(part) }
        }
        if isMetered { self[side].credits -= taken.count }
        self[side].unconsumed += taken.count
        return taken
    }

    /// Returns the number of bytes that a side may send at once, at most `limit`.
    func available(from side: LinkSide, limit: Int) -> Int {
        var room = manager(side) == nil ? min(limit, self[side].credits) : limit
        let wanted = room
        for data in self[side].queue {
            room -= min(room, data.count)
            if room == 0 { break }
        }
        return wanted - room
    }

    /// Returns whether a side has bytes that it may send.
    private func canMove(_ side: LinkSide) -> Bool {
        !self[side].queue.isEmpty && (manager(side) != nil || self[side].credits > 0)
    }

    /// Marks a side as transmitting; returns whether its first transmission must be scheduled.
    mutating func startMoving(_ side: LinkSide) -> Bool {
        guard !self[side].isMoving, canMove(side) || self[side].isEnding else { return false }
        self[side].isMoving = true
        return true
    }

    /// Continues after a transmission of a side.
    mutating func continueMoving(_ side: LinkSide) -> Continuation? {
        if canMove(side) {
            self[side].isMoving = true
            return .transmit
        }
        return self[side].isEnding && self[side].queue.isEmpty ? .end : nil
    }
}
