import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Core Specification, Vol 4, Part A, 2.
struct H4FramingTests {
    private static let reset: [UInt8] = [1, 0x03, 0x0C, 0]
    private static let packets: [[UInt8]] = [
        reset, [1, 0x05, 0x20, 6, 1, 2, 3, 4, 5, 6], [2, 0x40, 0, 7, 0, 3, 0, 4, 0, 0x0A, 3, 0],
        [2, 0x40, 0, 0, 1] + [UInt8](repeating: 7, count: 256),
        [1, 0x00, 0xFC, 255] + [UInt8](repeating: 1, count: 255),
    ]

    private static func expected(_ packets: [[UInt8]]) -> [HCIPacket] {
        packets.map { HCIPacket(kind: $0[0] == 1 ? .command : .acl, isReceived: false, body: Array($0.dropFirst())) }
    }

    @Test(arguments: 1...64) func packetsArriveInFragmentsOfAnySize(_ size: Int) {
        let stream = Self.packets.flatMap { $0 }
        var framing = H4Framing()
        var received: [HCIPacket] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            received += framing.receive(stream[start..<min(start + size, stream.count)]).packets
        }
        #expect(received == Self.expected(Self.packets))
    }

    @Test(arguments: 0..<100) func packetsArriveInRandomFragments(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "fragments")
        let sent = (0..<20).map { _ in Self.packets[Int(generator.below(UInt64(Self.packets.count)))] }
        var (rest, framing, received) = (sent.flatMap { $0 }[...], H4Framing(), [HCIPacket]())
        while !rest.isEmpty {
            let count = Int(generator.below(40))
            received += framing.receive(rest.prefix(count)).packets
            rest = rest.dropFirst(count)
        }
        #expect(received == Self.expected(sent))
    }

    @Test func anEmptyFragmentCompletesNothing() {
        var framing = H4Framing()
        #expect(framing.receive([]) == ReceivedPackets())
        #expect(framing.receive(Self.reset.prefix(3)) == ReceivedPackets())
        #expect(framing.receive([]) == ReceivedPackets())
        #expect(framing.receive(Self.reset.suffix(1)) == ReceivedPackets(packets: Self.expected([Self.reset])))
    }

    /// A host sends no events; the other numbers are not assigned.
    @Test(arguments: [0, 4, 6, 7, 0x55, 0xFF] as [UInt8]) func anUnknownTypeLosesTheBoundaries(_ type: UInt8) {
        var framing = H4Framing()
        let received = framing.receive((Self.reset + [type] + Self.reset)[...])
        #expect(received.packets == Self.expected([Self.reset]), "the packets before are complete")
        #expect(received.failure == "it sent a packet of type \(type), which is none of H4")
    }

    @Test func synchronousAndIsochronousDataAreDropped() {
        var framing = H4Framing()
        let stream: [UInt8] =
            [3, 1, 0, 2, 9, 9] + Self.reset + [5, 1, 0, 3, 0, 9, 9, 9] + Self.reset + [5, 1, 0, 1, 0xC0, 9] + Self.reset
        #expect(framing.receive(stream[...]).packets == Self.expected([Self.reset, Self.reset, Self.reset]))
    }
}
