/// The bytes of one end of an open L2CAP channel with LE credit-based flow control.
///
/// A stream in both directions: bytes are sent as service data units of any borders, and received with the units of the
/// peer, whole.
///
/// Source: Core Specification, Vol 3, Part A, 3.4.3 and 10.1.
package struct CreditBasedChannel: Sendable {
    /// The limits of one end, which the other one obeys.
    package struct Parameters: Hashable, Sendable {
        /// The longest service data unit.
        package let mtu: UInt16
        /// The longest payload of a packet.
        package let mps: UInt16
        /// The initial number of packets.
        package let credits: UInt16

        package init(mtu: UInt16, mps: UInt16, credits: UInt16) {
            (self.mtu, self.mps, self.credits) = (mtu, mps, credits)
        }

        /// The parameters of emulated ends: a packet fits into one of the Link Layer, and the initial credits allow for
        /// more than one unit.
        package static let emulated = Parameters(mtu: 2_048, mps: 247, credits: 16)

        /// Source: Core Specification, Vol 3, Part A, 4.22.
        var isValid: Bool { mtu >= 23 && (23...65_533).contains(mps) }
    }

    package enum Action: Hashable, Sendable {
        /// Sends a packet on the channel.
        case send([UInt8])
        /// Gives the peer credits.
        case grant(UInt16)
        /// A unit has arrived; its bytes are to be consumed.
        case received([UInt8])
        /// This number of bytes has left.
        case sent(Int)
    }

    /// The reason for which the channel must be disconnected.
    package enum Violation: Error, Hashable, Sendable {
        /// A packet without a credit.
        case noCredit
        /// A packet that is longer than the MPS.
        case packetTooLong
        /// The first packet of a unit without its length.
        case noLength
        /// A unit that is longer than the MTU.
        case unitTooLong
        /// More bytes than the length of the unit.
        case lengthExceeded
        /// More credits than 65,535.
        case tooManyCredits
    }

    /// A packet, and the number of bytes of the stream in it.
    package struct Packet: Sendable {
        package let bytes: [UInt8]
        let count: Int
    }

    private let own: Parameters
    private let peer: Parameters
    /// The number of packets that this end may send.
    private var credits: Int
    private var packets: [Packet] = []
    /// The number of packets that the peer may send.
    private var granted: Int
    /// The number of received bytes that are not consumed.
    private var unconsumed = 0
    /// The unit that is arriving.
    private var unit: (length: Int, bytes: [UInt8])?

    package init(own: Parameters = .emulated, peer: Parameters) {
        (self.own, self.peer) = (own, peer)
        (credits, granted) = (Int(peer.credits), Int(own.credits))
    }

    // MARK: Sending

    /// Whether all bytes have left.
    package var isIdle: Bool { packets.isEmpty }

    /// Splits bytes into service data units, and these into packets, of which the first contains the length.
    package static func packets(_ bytes: [UInt8], mtu: Int, mps: Int) -> [Packet] {
        var packets: [Packet] = []
        for start in stride(from: 0, to: bytes.count, by: mtu) {
            let unit = bytes[start..<min(bytes.count, start + mtu)]
            let head = UInt16(unit.count).bytes
            let first = unit.prefix(mps - head.count)
            packets.append(Packet(bytes: head + first, count: first.count))
            for start in stride(from: first.endIndex, to: unit.endIndex, by: mps) {
                let part = unit[start..<min(unit.endIndex, start + mps)]
                packets.append(Packet(bytes: Array(part), count: part.count))
            }
        }
        return packets
    }

    /// Sends bytes, as far as there are credits; the others wait.
    package mutating func send(_ bytes: [UInt8]) -> [Action] {
        packets += Self.packets(bytes, mtu: Int(peer.mtu), mps: Int(peer.mps))
        return sendWaiting()
    }

    /// Handles credits of the peer.
    package mutating func addCredits(_ count: UInt16) throws(Violation) -> [Action] {
        guard credits + Int(count) <= Int(UInt16.max) else { throw .tooManyCredits }
        credits += Int(count)
        return sendWaiting()
    }

    private mutating func sendWaiting() -> [Action] {
        let leaving = packets.prefix(credits)
        guard !leaving.isEmpty else { return [] }
        packets.removeFirst(leaving.count)
        credits -= leaving.count
        return leaving.map { .send($0.bytes) } + [.sent(leaving.reduce(0) { $0 + $1.count })]
    }

    // MARK: Receiving

    /// Handles a packet of the peer.
    package mutating func receive(_ payload: [UInt8]) throws(Violation) -> [Action] {
        guard granted > 0 else { throw .noCredit }
        granted -= 1
        guard payload.count <= Int(own.mps) else { throw .packetTooLong }
        var cursor = ByteCursor(payload)
        var (length, bytes) = unit ?? (0, [])
        if unit == nil {
            guard let first = cursor.littleEndian(UInt16.self) else { throw .noLength }
            guard first <= own.mtu else { throw .unitTooLong }
            length = Int(first)
        }
        bytes += cursor.rest
        guard bytes.count <= length else { throw .lengthExceeded }
        guard bytes.count == length else {
            unit = (length, bytes)
            return grant()
        }
        unit = nil
        unconsumed += bytes.count
        return (bytes.isEmpty ? [] : [.received(bytes)]) + grant()
    }

    /// Handles the consumption of received bytes.
    package mutating func consume(_ count: Int) -> [Action] {
        unconsumed -= min(count, unconsumed)
        return grant()
    }

    /// Gives credits for the room that is free: many at a time, or if the peer has none.
    private mutating func grant() -> [Action] {
        let room = Int(own.credits) * Int(own.mps) - unconsumed - (unit?.bytes.count ?? 0)
        let count = room / Int(own.mps) - granted
        guard count > 0, granted == 0 || count >= Int(own.credits) / 2 else { return [] }
        granted += count
        return [.grant(UInt16(count))]
    }
}
