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
    func canMove(_ side: LinkSide) -> Bool {
        !self[side].queue.isEmpty && (manager(side) != nil || self[side].credits > 0)
    }
}

struct WorldChannels: Sendable {
    private var channels: [ChannelID: Channel] = [:]
    private var last: UInt64 = 0

    subscript(id: ChannelID) -> Channel? {
        _read { yield channels[id] }
        _modify { yield &channels[id] }
    }

    mutating func insert(_ channel: Channel) -> ChannelID {
        last += 1
        let id = ChannelID(rawValue: last)
        channels[id] = channel
        return id
    }

    mutating func remove(_ id: ChannelID) -> Channel? { channels.removeValue(forKey: id) }

    /// Returns the side of a channel that a manager uses; nil if it does not use the channel.
    func side(of manager: Ref<Manager>, _ id: ChannelID) -> LinkSide? {
        guard let channel = channels[id] else { return nil }
        if channel.client == manager { return .central }
        return channel.server == manager ? .peripheral : nil
    }

    /// Returns the channels to a manager's PSM, in the order of their opening.
    func served(by manager: Ref<Manager>, at psm: UInt16) -> [ChannelID] {
        channels.filter { $0.value.psm == psm && $0.value.server == manager }.keys.sorted()
    }
}
