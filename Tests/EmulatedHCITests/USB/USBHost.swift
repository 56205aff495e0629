import BluetoothHCI

@testable import EmulatedHCI

/// A kernel with a dongle on USB/IP: encodes requests and reads replies.
struct USBHost {
    /// A reply of the dongle.
    struct Reply: Hashable {
        var kind: UInt32
        var number: UInt32
        var status: Int32
        /// The number of transferred bytes; zero for an unlink.
        var transferred: Int32 = 0
        var data: [UInt8] = []

        static func submitted(_ number: UInt32, _ data: [UInt8] = []) -> Self {
            Self(kind: 3, number: number, status: 0, transferred: Int32(data.count), data: data)
        }

        static func sent(_ number: UInt32, _ count: Int) -> Self {
            Self(kind: 3, number: number, status: 0, transferred: Int32(count))
        }

        static func failed(_ number: UInt32, _ status: Int32) -> Self {
            Self(kind: 3, number: number, status: status)
        }

        static func unlinked(_ number: UInt32, _ status: Int32) -> Self {
            Self(kind: 4, number: number, status: status)
        }
    }

    var dongle = USBDongle()
    /// The HCI packets that the dongle has passed to its controller.
    var packets: [HCIPacket] = []
    var failure: String?
    /// The numbers of the transfers to the host, whose replies contain data.
    private var ins: Set<UInt32> = []

    /// A kernel that has chosen the configuration.
    static var configured: USBHost {
        var host = USBHost()
        _ = host.control(0, [0x00, 9, 1, 0, 0, 0, 0, 0])
        return host
    }

    /// Sends bytes, and returns the replies.
    mutating func send(_ bytes: [UInt8]) -> [Reply] {
        let received = dongle.receive(bytes[...])
        packets += received.packets
        failure = received.failure ?? failure
        return read(received.replies)
    }

    /// Lets the controller send a packet, and returns the replies.
    mutating func deliver(_ packet: HCIPacket) -> [Reply] { read(dongle.send(packet)) }

    /// Performs a control transfer, with data for the device or a buffer of the length in the request.
    mutating func control(_ number: UInt32, _ setup: [UInt8], _ data: [UInt8] = []) -> Reply? {
        let length = Int(setup[6]) | Int(setup[7]) << 8
        let isIn = setup[0] & 0x80 != 0
        let replies = send(submit(number, endpoint: 0, isIn: isIn, length: length, setup: setup, data: data))
        return replies.count == 1 ? replies[0] : nil
    }

    /// Submits a transfer from an endpoint.
    mutating func read(_ number: UInt32, endpoint: UInt32, room: Int) -> [Reply] {
        send(submit(number, endpoint: endpoint, isIn: true, length: room))
    }

    /// Submits a transfer to an endpoint.
    mutating func write(_ number: UInt32, endpoint: UInt32, _ data: [UInt8]) -> [Reply] {
        send(submit(number, endpoint: endpoint, isIn: false, length: data.count, data: data))
    }

    mutating func unlink(_ number: UInt32, transfer: UInt32) -> [Reply] { send(Self.unlink(number, transfer)) }

    mutating func submit(
        _ number: UInt32, endpoint: UInt32, isIn: Bool, length: Int,
        setup: [UInt8] = [UInt8](repeating: 0, count: 8), data: [UInt8] = []
    ) -> [UInt8] {
        if isIn { ins.insert(number) }
        return Self.submit(number, endpoint: endpoint, direction: isIn ? 1 : 0, length: Int32(length), setup: setup)
            + data
    }

    /// The header of a transfer, with a bus and device number, flags, no frame, and an interval, which have no meaning.
    static func submit(
        _ number: UInt32, endpoint: UInt32, direction: UInt32, length: Int32, packets: Int32 = 0, setup: [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in [1, number, 0x0001_0002, direction, endpoint, 0x0200] { bytes.append(bigEndian: UInt32(field)) }
        for field in [length, 0, packets, 1] { bytes.append(bigEndian: field) }
        return bytes + setup
    }

    static func unlink(_ number: UInt32, _ transfer: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in [2, number, 0x0001_0002, 0, 0, transfer] { bytes.append(bigEndian: field) }
        return bytes + [UInt8](repeating: 0, count: 24)
    }

    private mutating func read(_ bytes: [UInt8]) -> [Reply] {
        var (replies, cursor) = ([Reply](), ByteCursor(bytes))
        while var header = cursor.next(48).map(ByteCursor.init) {
            let words = (0..<12).compactMap { _ in header.bigEndian(UInt32.self) }
            var reply = Reply(kind: words[0], number: words[1], status: Int32(bitPattern: words[5]))
            if reply.kind == 3 {
                reply.transferred = Int32(bitPattern: words[6])
                if ins.remove(reply.number) != nil { reply.data = cursor.next(Int(words[6])).map(Array.init) ?? [] }
            }
            replies.append(reply)
        }
        return replies
    }
}
