import Testing

@testable import BluetoothHCI

/// ACL packets, and the flow control in both directions.
@Suite struct DataTests {
    private var host = ControllerHost(bufferCount: 4, wanted: ControllerHost.usual)

    private static func frame(_ count: Int, channel: UInt8 = 4) -> [UInt8] {
        UInt16(count).bytes + [channel, 0] + (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    }

    private static func completed(_ count: UInt16, handle: UInt16 = 0x40) -> String {
        "04130501" + ControllerHost.hex(handle.bytes + count.bytes)
    }

    // MARK: From the host

    @Test mutating func aFrameGoesToTheLinkLayerAndIsCompletedWhenItIsSent() {
        host.connect()
        #expect(host.send(acl: 0x40, Self.frame(3)) == [])
        #expect(host.commands == [.send(handle: 0x40, channel: 4, [0, 1, 2])])
        #expect(host.handle(.sent(handle: 0x40)) == [Self.completed(1)])
        #expect(host.handle(.sent(handle: 0x40)) == [])
    }

    @Test mutating func fragmentsAreJoinedAndCompletedTogether() {
        host.connect()
        let frame = Self.frame(500)
        host.send(acl: 0x40, Array(frame[..<251]))
        #expect(host.commands == [])
        host.send(acl: 0x40, boundary: 1, Array(frame[251..<502]))
        host.send(acl: 0x40, boundary: 1, Array(frame[502...]))
        #expect(host.commands == [.send(handle: 0x40, channel: 4, Array(frame[4...]))])
        #expect(host.handle(.sent(handle: 0x40)) == [Self.completed(3)])
    }

    @Test mutating func aFlushablePacketBeginsAFrameToo() {
        host.connect()
        host.send(acl: 0x40, boundary: 2, Self.frame(3))
        #expect(host.commands == [.send(handle: 0x40, channel: 4, [0, 1, 2])])
    }

    @Test mutating func fragmentsOfTwoLinksDoNotMix() {
        host.connect(0x40)
        host.connect(0x41, peer: HCIAddress(bits: 1, isRandom: false))
        let frame = Self.frame(8)
        host.send(acl: 0x40, Array(frame[..<6]))
        host.send(acl: 0x41, Array(frame[..<7]))
        host.send(acl: 0x40, boundary: 1, Array(frame[6...]))
        #expect(host.commands == [.send(handle: 0x40, channel: 4, Array(frame[4...]))])
        host.send(acl: 0x41, boundary: 1, Array(frame[7...]))
        #expect(host.commands == [.send(handle: 0x41, channel: 4, Array(frame[4...]))])
        #expect(host.handle(.sent(handle: 0x41)) == [Self.completed(2, handle: 0x41)])
    }

    @Test mutating func theHostCanSendAFrameThatNeedsMorePacketsThanThereAreBuffers() {
        host.connect()
        let frame = Self.frame(2500)
        var completed: [String] = []
        for start in stride(from: 0, to: frame.count, by: 251) {
            completed += host.send(
                acl: 0x40, boundary: start == 0 ? 0 : 1, Array(frame[start..<min(start + 251, frame.count)]))
        }
        #expect(completed == [Self.completed(4), Self.completed(4)])
        #expect(host.commands == [.send(handle: 0x40, channel: 4, Array(frame[4...]))])
        #expect(host.handle(.sent(handle: 0x40)) == [Self.completed(2)])
    }

    @Test mutating func packetsBeyondTheBuffersAreDiscarded() {
        host.connect()
        for _ in 0..<4 { #expect(host.send(acl: 0x40, Self.frame(1)) == []) }
        #expect(host.send(acl: 0x40, Self.frame(1)) == ["041a0101"])
        #expect(host.commands == [])
        host.handle(.sent(handle: 0x40))
        host.send(acl: 0x40, Self.frame(1))
        #expect(host.commands.count == 1)
    }

    @Test mutating func packetsOfUnknownLinksAreDiscarded() {
        #expect(host.send(acl: 0x40, Self.frame(1)) == [])
        #expect(host.commands == [])
        #expect(host.handle(.sent(handle: 0x40)) == [])
    }

    @Test mutating func aMalformedPacketIsCompletedAtOnce() {
        host.connect()
        // Continues nothing.
        #expect(host.send(acl: 0x40, boundary: 1, [1]) == [Self.completed(1)])
        // Flags that no host may send.
        #expect(host.send(acl: 0x40, boundary: 3, Self.frame(1)) == [Self.completed(1)])
        #expect(host.send(acl: 0x40, boundary: 4, Self.frame(1)) == [Self.completed(1)])
        // Longer than a buffer, and than its frame.
        #expect(host.send(acl: 0x40, Self.frame(248)) == [Self.completed(1)])
        #expect(host.send(acl: 0x40, Self.frame(1) + [0]) == [Self.completed(1)])
        // A length that is not that of the data.
        let packet = HCIPacket(kind: .acl, isReceived: false, body: [0x40, 0, 9, 0, 1])
        #expect(host.send(packet) == [Self.completed(1)])
        #expect(host.send(HCIPacket(kind: .acl, isReceived: false, body: [0x40, 0, 9])) == [])
        #expect(host.commands == [])
    }

    @Test mutating func aNewFrameDiscardsAnIncompleteOne() {
        host.connect()
        host.send(acl: 0x40, Array(Self.frame(9)[..<6]))
        #expect(host.send(acl: 0x40, Self.frame(1)) == [Self.completed(1)])
        #expect(host.commands == [.send(handle: 0x40, channel: 4, [0])])
    }

    @Test mutating func theEndOfALinkDiscardsAnIncompleteFrame() {
        host.connect()
        let frame = Self.frame(8)
        host.send(acl: 0x40, Array(frame[..<6]))
        host.handle(.disconnected(handle: 0x40, reason: 8))
        host.connect()
        #expect(host.send(acl: 0x40, boundary: 1, Array(frame[6...])) == [Self.completed(1)])
        #expect(host.commands == [])
    }

    @Test mutating func theEndOfALinkFreesItsBuffers() {
        host.connect()
        for _ in 0..<4 { host.send(acl: 0x40, Self.frame(1)) }
        #expect(host.handle(.disconnected(handle: 0x40, reason: 8)) == ["04050400400008"])
        host.connect()
        host.send(acl: 0x40, boundary: 1, [1])
        for _ in 0..<4 { #expect(host.send(acl: 0x40, Self.frame(1)) == []) }
    }

    // MARK: To the host

    @Test mutating func aFrameForTheHostIsFragmented() {
        host.connect()
        #expect(host.handle(.received(handle: 0x40, channel: 4, [1, 2])) == ["0240200600020004000102"])
        let packets = host.handle(.received(handle: 0x40, channel: 6, [UInt8](repeating: 7, count: 300)))
        #expect(packets.map { String($0.prefix(10)) } == ["024020fb00", "0240103500"])
        #expect(packets[0].dropFirst(10).hasPrefix("2c010600"))
        #expect(host.handle(.received(handle: 0x41, channel: 4, [1])) == [])
    }

    @Test mutating func aFrameLongerThanAnyOfL2CAPIsDiscarded() {
        host.connect()
        #expect(host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 0, count: 65_535))).count == 262)
        #expect(host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 0, count: 65_536))) == [])
    }

    @Test mutating func theLengthOfTheHostsBuffersAppliesWithoutFlowControl() {
        host.ask(0x0C33, "1B000002000000")
        host.connect()
        let packets = host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 7, count: 100)))
        #expect(packets.map(\.count) == [32, 32, 32, 28].map { 2 * $0 })
    }

    // MARK: Flow control of the host

    private mutating func startFlowControl(length: String = "1B00", count: String = "0200") {
        #expect(host.ask(0x0C33, length + "00" + count + "0000") == ["040e0401330c00"])
        #expect(host.ask(0x0C31, "01") == ["040e0401310c00"])
    }

    @Test mutating func theHostGetsNoMorePacketsThanItHasBuffers() {
        startFlowControl()
        host.connect()
        // 104 bytes, of which a buffer has room for 27.
        let packets = host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 7, count: 100)))
        #expect(packets.map(\.count) == [2 * 32, 2 * 32])
        #expect(host.ask(0x0C35, "0140000100").map(\.count) == [2 * 32])
        #expect(host.ask(0x0C35, "0140000200").map(\.count) == [2 * 28])
        #expect(host.handle(.received(handle: 0x40, channel: 4, [1])).count == 1)
        #expect(host.handle(.received(handle: 0x40, channel: 4, [1])) == [])
    }

    @Test mutating func theHostCannotCompleteMoreThanItGot() {
        startFlowControl()
        host.connect()
        #expect(host.ask(0x0C35, "0140006400") == [])
        #expect(host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 7, count: 100))).count == 2)
    }

    @Test mutating func theLinksShareTheBuffersInTurn() {
        startFlowControl()
        host.connect(0x40)
        host.connect(0x41, peer: HCIAddress(bits: 1, isRandom: false))
        host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 7, count: 100)))
        host.handle(.received(handle: 0x41, channel: 4, [1]))
        let packets = host.ask(0x0C35, "0140000200")
        #expect(packets.map { String($0.prefix(6)) } == ["024010", "024120"])
    }

    @Test mutating func theEndOfALinkFreesTheBuffersOfTheHost() {
        startFlowControl()
        host.connect(0x40)
        host.connect(0x41, peer: HCIAddress(bits: 1, isRandom: false))
        host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 7, count: 100)))
        host.handle(.received(handle: 0x41, channel: 4, [1]))
        let packets = host.handle(.disconnected(handle: 0x40, reason: 8))
        #expect(packets == ["04050400400008", "02412005000100040001"])
    }

    @Test mutating func aLinkForWhichTooMuchWaitsEnds() {
        startFlowControl()
        host.connect()
        #expect(host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 7, count: 27_000))).count == 2)
        #expect(host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 7, count: 2_000))) == [])
        #expect(host.commands == [.disconnect(handle: 0x40, reason: 0x14)])
        host.handle(.received(handle: 0x40, channel: 4, [UInt8](repeating: 7, count: 2_000)))
        #expect(host.commands == [])
    }

    @Test mutating func flowControlBeginsWithoutLinksAndWithBuffers() {
        #expect(host.ask(0x0C31, "01") == ["040e0401310c0c"])
        #expect(host.ask(0x0C31, "02") == ["040e0401310c11"])
        #expect(host.ask(0x0C31, "04") == ["040e0401310c12"])
        #expect(host.ask(0x0C33, "00000001000000") == ["040e0401330c12"])
        #expect(host.ask(0x0C33, "1B000000000000") == ["040e0401330c12"])
        startFlowControl()
        host.connect()
        #expect(host.ask(0x0C31, "00") == ["040e0401310c0c"])
    }

    /// Core Specification, Vol 4, Part E, 7.3.40.
    @Test mutating func theCompletedPacketsOfTheHostAreAnsweredInCaseOfAnErrorAlone() {
        host.connect()
        #expect(host.ask(0x0C35, "0140000100") == [])
        #expect(host.ask(0x0C35, "00") == [])
        #expect(host.ask(0x0C35, "0141000100") == [])
        #expect(host.ask(0x0C35, "0240000100") == ["040e0401350c12"])
    }
}
