import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Core Specification, Vol 4, Part A, 2.
struct H4DecoderTests {
    private static let reset: [UInt8] = [1, 0x03, 0x0C, 0]
    private static let packets: [[UInt8]] = [
        reset, [1, 0x05, 0x20, 6, 1, 2, 3, 4, 5, 6], [2, 0x40, 0, 7, 0, 3, 0, 4, 0, 0x0A, 3, 0],
        [2, 0x40, 0, 0, 1] + [UInt8](repeating: 7, count: 256),
        [1, 0x00, 0xFC, 255] + [UInt8](repeating: 1, count: 255),
    ]

    private static func expected(_ packets: [[UInt8]]) -> [HCIPacket] {
        packets.map { HCIPacket(kind: $0[0] == 1 ? .command : .acl, isReceived: false, body: Array($0.dropFirst())) }
    }

    @Test(arguments: 1...64) func packetsArriveInFragmentsOfAnySize(_ size: Int) throws {
        let stream = Self.packets.flatMap { $0 }
        var decoder = H4Decoder()
        var received: [HCIPacket] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            received += try decoder.add(stream[start..<min(start + size, stream.count)])
        }
        #expect(received == Self.expected(Self.packets))
    }

    @Test(arguments: 0..<100) func packetsArriveInRandomFragments(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed, stream: "fragments")
        let sent = (0..<20).map { _ in Self.packets[Int(generator.below(UInt64(Self.packets.count)))] }
        var (rest, decoder, received) = (sent.flatMap { $0 }[...], H4Decoder(), [HCIPacket]())
        while !rest.isEmpty {
            let count = Int(generator.below(40))
            received += try decoder.add(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        #expect(received == Self.expected(sent))
    }

    @Test func anEmptyFragmentCompletesNothing() throws {
        var decoder = H4Decoder()
        #expect(try decoder.add([]) == [])
        #expect(try decoder.add(Self.reset.prefix(3)) == [])
        #expect(try decoder.add([]) == [])
        #expect(try decoder.add(Self.reset.suffix(1)) == Self.expected([Self.reset]))
    }

    /// A host sends no events; the other numbers are not assigned.
    @Test(arguments: [0, 4, 6, 7, 0x55, 0xFF] as [UInt8]) func anUnknownTypeLosesTheBoundaries(_ type: UInt8) {
        var decoder = H4Decoder()
        #expect(throws: H4Decoder.UnknownType(type: type)) { try decoder.add(Self.reset + [type]) }
    }

    @Test func synchronousAndIsochronousDataAreDropped() throws {
        var decoder = H4Decoder()
        let stream: [UInt8] =
            [3, 1, 0, 2, 9, 9] + Self.reset + [5, 1, 0, 3, 0, 9, 9, 9] + Self.reset + [5, 1, 0, 1, 0xC0, 9] + Self.reset
        #expect(try decoder.add(stream) == Self.expected([Self.reset, Self.reset, Self.reset]))
    }
}
