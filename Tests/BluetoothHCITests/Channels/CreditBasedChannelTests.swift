import BluetoothHCI
import BluetoothSupport
import Testing

/// Core Specification, Vol 3, Part A, 3.4.3 and 10.1.
struct CreditBasedChannelTests {
    private typealias Channel = CreditBasedChannel
    private typealias Parameters = CreditBasedChannel.Parameters

    private func channel(
        own: CreditBasedChannel.Parameters = .init(mtu: 100, mps: 40, credits: 6),
        peer: CreditBasedChannel.Parameters = .init(mtu: 100, mps: 40, credits: 6)
    ) -> CreditBasedChannel { CreditBasedChannel(own: own, peer: peer) }

    private func bytes(_ count: Int, from first: Int = 0) -> [UInt8] {
        (first..<first + count).map { UInt8(truncatingIfNeeded: $0) }
    }

    /// A unit's packet with its length.
    private func first(_ length: UInt16, _ bytes: [UInt8]) -> [UInt8] {
        [UInt8(length & 0xFF), UInt8(length >> 8)] + bytes
    }

    // MARK: Sending

    @Test func aUnitIsSplitIntoPacketsOfWhichTheFirstHasTheLength() {
        var channel = channel()
        #expect(
            channel.send(bytes(90)) == [
                .send(first(90, bytes(38))), .send(bytes(40, from: 38)), .send(bytes(12, from: 78)), .sent(90),
            ])
        #expect(channel.isIdle)
    }

    @Test func aUnitThatFillsAPacketHasOne() {
        var channel = channel()
        #expect(channel.send(bytes(38)) == [.send(first(38, bytes(38))), .sent(38)])
    }

    @Test func aStreamThatIsLongerThanTheMTUHasSeveralUnits() {
        var channel = channel(peer: Parameters(mtu: 23, mps: 200, credits: 6))
        #expect(
            channel.send(bytes(50)) == [
                .send(first(23, bytes(23))), .send(first(23, bytes(23, from: 23))), .send(first(4, bytes(4, from: 46))),
                .sent(50),
            ])
    }

    @Test func packetsWithoutCreditsWaitForThem() throws {
        var channel = channel(peer: Parameters(mtu: 23, mps: 25, credits: 2))
        #expect(channel.send(bytes(69)).last == .sent(46))
        #expect(!channel.isIdle)
        #expect(channel.send([1]) == [])
        #expect(try channel.addCredits(1) == [.send(first(23, bytes(23, from: 46))), .sent(23)])
        #expect(try channel.addCredits(5) == [.send(first(1, [1])), .sent(1)])
        #expect(channel.isIdle)
        // The credits that were left over.
        #expect(channel.send([2]) == [.send(first(1, [2])), .sent(1)])
    }

    @Test func nothingIsSentWithoutInitialCredits() throws {
        var channel = channel(peer: Parameters(mtu: 100, mps: 40, credits: 0))
        #expect(channel.send([7]) == [])
        #expect(try channel.addCredits(1) == [.send(first(1, [7])), .sent(1)])
    }

    @Test func moreCreditsThanACounterHoldsAreAViolation() throws {
        var channel = channel(peer: Parameters(mtu: 100, mps: 40, credits: 65_000))
        #expect(try channel.addCredits(535) == [])
        #expect(throws: Channel.Violation.tooManyCredits) { try channel.addCredits(1) }
    }

    // MARK: Receiving

    @Test func aUnitArrivesWhole() throws {
        var channel = channel()
        #expect(try channel.receive(first(90, bytes(38))) == [])
        #expect(try channel.receive(bytes(40, from: 38)) == [])
        #expect(try channel.receive(bytes(12, from: 78)) == [.received(bytes(90))])
    }

    @Test func anEmptyUnitBringsNothing() throws {
        var channel = channel()
        #expect(try channel.receive([0, 0]) == [])
        #expect(try channel.receive(first(1, [5])) == [.received([5])])
    }

    @Test func aPacketWithoutACreditIsAViolation() throws {
        var channel = channel(own: Parameters(mtu: 23, mps: 40, credits: 1))
        #expect(try channel.receive(first(23, bytes(23))) == [.received(bytes(23))])
        #expect(throws: Channel.Violation.noCredit) { try channel.receive(first(1, [1])) }
    }

    @Test func malformedPacketsAreViolations() throws {
        let cases: [(packets: [[UInt8]], violation: CreditBasedChannel.Violation)] = [
            ([first(39, bytes(39))], .packetTooLong), ([[]], .noLength), ([[1]], .noLength),
            ([first(101, bytes(10))], .unitTooLong), ([first(2, bytes(3))], .lengthExceeded),
            ([first(50, bytes(38)), bytes(13)], .lengthExceeded),
        ]
        for (packets, violation) in cases {
            var channel = channel()
            for packet in packets.dropLast() { #expect(try channel.receive(packet) == []) }
            #expect(throws: violation) { try channel.receive(packets[packets.count - 1]) }
        }
    }

    // MARK: Credits

    @Test func creditsReturnAsBytesAreConsumed() throws {
        var channel = channel()
        for _ in 0..<3 { #expect(try channel.receive(first(30, bytes(30))) == [.received(bytes(30))]) }
        // 90 bytes of 240 are in use.
        #expect(try channel.receive(first(30, bytes(30))) == [.received(bytes(30))])
        #expect(channel.consume(30) == [])
        #expect(channel.consume(60) == [.grant(3)])
        #expect(channel.consume(1_000) == [])
    }

    @Test func aUnitOfTheLargestSizeNeverLacksCredits() throws {
        let own = Parameters.emulated
        var channel = channel(own: own)
        let unit = bytes(Int(own.mtu))
        var packets = CreditBasedChannel.packets(unit, mtu: Int(own.mtu), mps: 23).map(\.bytes)
        #expect(packets.count == 90)
        var credits = Int(own.credits)
        var arrived: [UInt8] = []
        while !packets.isEmpty {
            try #require(credits > 0)
            credits -= 1
            for action in try channel.receive(packets.removeFirst()) {
                if case .grant(let count) = action { credits += Int(count) }
                if case .received(let bytes) = action { arrived += bytes }
            }
        }
        #expect(arrived == unit)
    }

    /// Two ends pass random streams to each other, whose consumers are slow.
    @Test(arguments: 0..<200) func streamsArriveUnchangedWithinTheirBounds(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed, stream: "channel")
        func parameters() -> Parameters {
            let mps = UInt16(23 + generator.below(60))
            let mtu = UInt16(23 + generator.below(300))
            return Parameters(mtu: mtu, mps: mps, credits: 2 + mtu / mps + UInt16(generator.below(4)))
        }
        let (left, right) = (parameters(), parameters())
        var (sender, receiver) = (channel(own: left, peer: right), channel(own: right, peer: left))
        var (sent, arrived, unconsumed, reported) = ([UInt8](), [UInt8](), 0, 0)
        var air: [[UInt8]] = []
        func collect(_ actions: [CreditBasedChannel.Action]) {
            for action in actions {
                if case .send(let packet) = action { air.append(packet) }
                if case .sent(let count) = action { reported += count }
            }
        }
        func deliver(_ actions: [CreditBasedChannel.Action]) throws {
            for action in actions {
                switch action {
                case .received(let bytes):
                    arrived += bytes
                    unconsumed += bytes.count
                case .grant(let count): collect(try sender.addCredits(count))
                case .send, .sent: Issue.record("the receiver sends nothing")
                }
            }
        }
        for _ in 0..<300 {
            switch generator.below(3) {
            case 0:
                let part = bytes(Int(generator.below(400)), from: sent.count)
                sent += part
                collect(sender.send(part))
            case 1: if !air.isEmpty { try deliver(receiver.receive(air.removeFirst())) }
            default:
                let count = Int(generator.below(UInt64(unconsumed + 1)))
                unconsumed -= count
                try deliver(receiver.consume(count))
            }
            #expect(unconsumed <= Int(right.credits) * Int(right.mps))
        }
        while arrived.count < sent.count {
            try deliver(receiver.consume(unconsumed))
            unconsumed = 0
            try #require(!air.isEmpty, "the stream is stuck")
            try deliver(receiver.receive(air.removeFirst()))
        }
        #expect(arrived == sent)
        #expect(reported == sent.count)
        #expect(sender.isIdle)
    }
}
