import BluetoothHCI
import DequeModule

/// An endpoint from a device to its host: packets of HCI that wait for transfers, or transfers that wait for packets.
///
/// A transfer ends with its packet's last piece, or when its buffer is full; pieces have the endpoint's packet size.
struct USBInEndpoint: Sendable {
    /// More than a driver submits at a time.
    static let maximumTransfers = 256
    /// The most bytes that wait for a host that does not ask for them.
    static let maximumBytes = 4_194_304
    /// The number of waiting bytes from which on advertising reports are dropped, as in a controller whose buffers are full.
    static let reportLimit = 65_536

    private struct Waiting {
        let number: UInt32
        let room: Int
    }

    private let packetSize: Int
    private var transfers: Deque<Waiting> = []
    /// The packets, or the rest of the first.
    private var packets: Deque<ArraySlice<UInt8>> = []
    private var byteCount = 0

    init(packetSize: Int) { self.packetSize = packetSize }

    /// Adds a packet; a report for which there is no room is dropped.
    ///
    /// - Returns: Whether there is room.
    mutating func add(_ packet: HCIPacket) -> Bool {
        if packet.isAdvertisingReport, byteCount >= Self.reportLimit { return true }
        guard byteCount + packet.body.count <= Self.maximumBytes else { return false }
        byteCount += packet.body.count
        packets.append(packet.body[...])
        return true
    }

    /// Adds a transfer.
    ///
    /// - Returns: Whether there is room.
    mutating func submit(_ transfer: USBTransfer) -> Bool {
        guard transfers.count < Self.maximumTransfers else { return false }
        transfers.append(Waiting(number: transfer.number, room: transfer.length))
        return true
    }

    /// Forgets a transfer.
    ///
    /// - Returns: Whether it waited.
    mutating func unlink(_ number: UInt32) -> Bool {
        guard let index = transfers.firstIndex(where: { $0.number == number }) else { return false }
        transfers.remove(at: index)
        return true
    }

    /// Forgets all transfers, and returns their numbers.
    mutating func removeTransfers() -> [UInt32] { exchange(&transfers, with: []).map(\.number) }

    /// Returns the replies of all transfers that can end.
    mutating func takeReplies() -> [UInt8] {
        var replies: [UInt8] = []
        while !packets.isEmpty, let transfer = transfers.popFirst() { replies += reply(to: transfer) }
        return replies
    }

    private mutating func reply(to transfer: Waiting) -> [UInt8] {
        let packet = packets[0]
        let isWhole = packet.count <= transfer.room
        let count = isWhole ? packet.count : transfer.room / packetSize * packetSize
        // Not even one piece fits.
        guard count > 0 else { return USBIPReply.submitted(transfer.number, .overflow, transferred: 0) }
        if isWhole { packets.removeFirst() } else { packets[0] = packet.dropFirst(count) }
        byteCount -= count
        return USBIPReply.submitted(transfer.number, .success, transferred: count, data: packet.prefix(count))
    }
}

extension HCIPacket {
    /// Whether the packet is an LE Advertising Report, a directed one, or an extended one.
    fileprivate var isAdvertisingReport: Bool {
        kind == .event && body.count > 2 && body[0] == 0x3E && [0x02, 0x0B, 0x0D].contains(body[2])
    }
}
