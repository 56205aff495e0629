import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// L2CAP channels in both roles.
@Suite struct ChannelTests {
    /// A connected pair with an open channel.
    private struct Open {
        let pair: ConnectedPair
        let psm: UInt16
        let channel: ChannelID
        let credits: Int

        init(_ configuration: EmulatorConfiguration = .instant) async throws {
            pair = try await ConnectedPair(configuration)
            let events = try await pair.peripheral.run(
                .publishChannel(operation: op(10), isEncryptionRequired: false))
            guard case .channelPublished(op(10), let psm)? = events.last else { throw Unexpected("\(events)") }
            self.psm = psm
            let answer = try await pair.central.run(
                .request(link: pair.link, operation: op(11), .openChannel(psm: psm)))
            guard case .response(pair.link, op(11), .channel(let channel, let credits))? = answer.last else {
                throw Unexpected("\(answer)")
            }
            self.channel = channel
            self.credits = credits
        }

        func received(from count: Int = 0) -> Data {
            pair.peripheral.events(from: count).reduce(into: Data()) { data, event in
                if case .channel(channel, .received(let part)) = event { data.append(part) }
            }
        }

        var receivedByCentral: Data {
            pair.central.events.reduce(into: Data()) { data, event in
                if case .channel(channel, .received(let part)) = event { data.append(part) }
            }
        }
    }

    private func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }

    @Test func S146_S149_aPublishedNumberIsOpened() async throws {
        let open = try await Open()
        #expect(open.psm == 0x80)
        guard case .channelOpened(open.channel, 0x80, let central, open.credits)? = open.pair.peripheral.events.last
        else { throw Unexpected("\(open.pair.peripheral.events)") }
        #expect(open.credits == open.pair.emulator.configuration.channelBuffer)
        try await open.pair.subscribe("C0D1")
        #expect(open.pair.centralID == central)
        let second = try await open.pair.peripheral.run(
            .publishChannel(operation: op(12), isEncryptionRequired: false))
        #expect(second == [.channelPublished(operation: op(12), psm: 0x81)])
    }

    @Test func S148_aNumberWhereNobodyListensIsRefused() async throws {
        let pair = try await ConnectedPair()
        let events = try await pair.central.run(.request(link: pair.link, operation: op(1), .openChannel(psm: 0x80)))
        guard case .response(pair.link, op(1), .failure(let error))? = events.last else {
            throw Unexpected("\(events)")
        }
        #expect(error.code == .operationNotSupported)
    }

    @Test func bytesFlowBothWaysAndCreditsComeBackWhenTheyAreTaken() async throws {
        let open = try await Open()
        let central = open.pair.central
        let count = central.events.count
        central.submit(.channel(open.channel, .send(bytes(100))))
        open.pair.peripheral.peripheral.submit(.channel(open.channel, .send(bytes(50))))
        try await open.pair.emulator.runUntilIdle()
        #expect(open.received() == bytes(100))
        #expect(central.events(from: count) == [.channel(open.channel, .received(bytes(50)))])
        try await open.pair.peripheral.run(.channel(open.channel, .consumed(60)))
        #expect(central.events.last == .channel(open.channel, .credits(60)))
        // The credits returned do not exceed the bytes sent.
        try await open.pair.peripheral.run(.channel(open.channel, .consumed(60)))
        #expect(central.events.last == .channel(open.channel, .credits(40)))
    }

    @Test func moreThanTheCreditsIsDropped() async throws {
        let open = try await Open()
        open.pair.central.submit(.channel(open.channel, .send(bytes(open.credits))))
        open.pair.central.submit(.channel(open.channel, .send(bytes(1))))
        try await open.pair.emulator.runUntilIdle()
        #expect(open.received() == bytes(open.credits))
        #expect(open.pair.emulator.trace.last?.text.hasSuffix("dropped") == false)
        #expect(open.pair.emulator.trace.contains { $0.text.contains("bytes without credit on channel 1 dropped") })
    }

    @Test(arguments: [EmulatorConfiguration.instant, .default])
    func S152_aMegabyteArrivesIntact(configuration: EmulatorConfiguration) async throws {
        let open = try await Open(configuration)
        let total = bytes(1 << 20)
        var sent = 0
        while sent < total.count {
            let part = total.dropFirst(sent).prefix(open.credits)
            sent += part.count
            open.pair.central.submit(.channel(open.channel, .send(Data(part))))
            open.pair.peripheral.peripheral.submit(.channel(open.channel, .send(Data(part))))
            try await open.pair.emulator.runUntilIdle()
            open.pair.peripheral.peripheral.submit(.channel(open.channel, .consumed(part.count)))
            open.pair.central.submit(.channel(open.channel, .consumed(part.count)))
            try await open.pair.emulator.runUntilIdle()
        }
        #expect(open.received() == total)
        #expect(open.receivedByCentral == total)
    }

    @Test func bytesTakeTheirTime() async throws {
        let open = try await Open(.default)
        let count = open.pair.peripheral.events.count
        open.pair.central.submit(.channel(open.channel, .send(bytes(3000))))
        try await open.pair.emulator.advance(by: .milliseconds(49))
        // Six packets of 245 bytes in a connection event.
        #expect(open.received(from: count).count == 1470)
        try await open.pair.emulator.runUntilIdle()
        #expect(open.received(from: count).count == 3000)
    }

    @Test func S153_theOtherSideHearsOfACloseAfterAllThatWasSent() async throws {
        let open = try await Open(.default)
        let count = open.pair.peripheral.events.count
        open.pair.central.submit(.channel(open.channel, .send(bytes(3000))))
        open.pair.central.submit(.channel(open.channel, .close))
        open.pair.central.submit(.channel(open.channel, .send(bytes(1))))
        try await open.pair.emulator.runUntilIdle()
        #expect(open.received(from: count) == bytes(3000))
        #expect(open.pair.peripheral.events.last == .channel(open.channel, .closed))
    }

    @Test func S153_aLostLinkClosesBothEnds() async throws {
        let open = try await Open()
        let count = open.pair.central.events.count
        open.pair.device.setProximity(.outOfRange)
        try await open.pair.emulator.runUntilIdle()
        #expect(open.pair.peripheral.events.last == .channel(open.channel, .closed))
        let events = open.pair.central.events(from: count)
        guard events.count == 1, case .disconnected(open.pair.link, _, _, _, _)? = events.first else {
            throw Unexpected("\(events)")
        }
    }

    @Test func S154_unpublishingClosesAndRefuses() async throws {
        let open = try await Open()
        let count = open.pair.central.events.count
        let events = try await open.pair.peripheral.run(.unpublishChannel(operation: op(12), psm: open.psm))
        #expect(events == [.channelUnpublished(operation: op(12), psm: open.psm)])
        #expect(open.pair.central.events(from: count) == [.channel(open.channel, .closed)])
        let again = try await open.pair.central.run(
            .request(link: open.pair.link, operation: op(13), .openChannel(psm: open.psm)))
        guard case .response(_, _, .failure)? = again.last else { throw Unexpected("\(again)") }
        let unknown = try await open.pair.peripheral.run(.unpublishChannel(operation: op(14), psm: 0xF0))
        guard case .operationFailed(op(14), let error)? = unknown.last else { throw Unexpected("\(unknown)") }
        #expect(error.code == .invalidParameters)
    }

    @Test func S146_anEncryptedChannelPairsFirst() async throws {
        let pair = try await ConnectedPair()
        _ = try await pair.peripheral.run(.publishChannel(operation: op(10), isEncryptionRequired: true))
        let events = try await pair.central.run(.request(link: pair.link, operation: op(11), .openChannel(psm: 0x80)))
        guard case .response(_, _, .channel)? = events.last else { throw Unexpected("\(events)") }
        #expect(pair.emulator.host.isBonded(with: pair.device))
    }

    @Test func aManagerThatQuitsClosesItsChannels() async throws {
        let open = try await Open()
        let count = open.pair.central.events.count
        open.pair.peripheral.peripheral.invalidate()
        try await open.pair.emulator.runUntilIdle()
        #expect(open.pair.central.events(from: count).contains(.channel(open.channel, .closed)))
        let events = try await open.pair.central.run(
            .request(link: open.pair.link, operation: op(13), .openChannel(psm: open.psm)))
        guard case .response(_, _, .failure)? = events.last else { throw Unexpected("\(events)") }
    }

    /// Opens a channel to a described device that returns what it gets.
    private func openEcho(_ fixture: Fixture) async throws -> (device: EmulatedDevice, channel: ChannelID) {
        let device = try fixture.emulator.add(
            PeripheralDescription(
                name: "Echo", advertising: [AdvertisingDescription(AdvertisingData())],
                channels: [ChannelDescription(psm: 0x90, echo: true)]))
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        _ = try await fixture.run(.request(link: link, operation: op(1), .openChannel(psm: 0x90)))
        let channel = try #require(device.channels.first)
        return (device, channel)
    }

    @Test func aDeviceReturnsWhatItGets() async throws {
        let fixture = Fixture(.default)
        let (device, channel) = try await openEcho(fixture)
        let events = try await fixture.run(.channel(channel, .send(bytes(16_384))))
        let back = events.reduce(into: Data()) { data, event in
            if case .channel(channel, .received(let part)) = event { data.append(part) }
        }
        #expect(back == bytes(16_384))
        // A device's bytes wait until the receiver has room.
        device.send(bytes(100), on: channel)
        #expect(try await fixture.run().isEmpty)
        let rest = try await fixture.run(.channel(channel, .consumed(16_384)))
        #expect(rest == [.channel(channel, .received(bytes(100)))])
        device.close(channel)
        #expect(try await fixture.run() == [.channel(channel, .closed)])
        #expect(device.channels.isEmpty)
    }

    @Test func anEchoThatNobodyTakesHasABound() async throws {
        let fixture = Fixture()
        let (_, channel) = try await openEcho(fixture)
        let part = bytes(16_384)
        var (sent, isHeldUp) = (0, false)
        while !isHeldUp, sent < 2_000_000 {
            let events = try await fixture.run(.channel(channel, .send(part)))
            sent += 16_384
            isHeldUp = !events.contains(.channel(channel, .credits(16_384)))
        }
        // A megabyte waits, and what the buffers of both sides have room for.
        #expect(sent == 1_048_576 + 2 * 16_384)
        // As the echo is taken, the credits come back.
        _ = try await fixture.run(.channel(channel, .consumed(16_384)))
        let events = try await fixture.run(.channel(channel, .consumed(16_384)))
        #expect(events.contains(.channel(channel, .credits(16_384))))
    }

    @Test func aHandlerSpeaksOnAChannel() async throws {
        struct Greeter: EmulatedPeripheralHandler {
            func makeState() -> Int { 0 }
            func handle(_ event: DeviceEvent, state: inout Int, device: inout DeviceActions) {
                switch event {
                case .channelOpened(_, let channel, _): device.send(Data("hello".utf8), on: channel)
                case .channelReceived(let channel, let data):
                    state += data.count
                    if state >= 3 { device.close(channel) }
                default: break
                }
            }
        }
        let fixture = Fixture()
        let device = try fixture.emulator.add(
            EmulatedPeripheral(
                PeripheralDescription(
                    name: "Greeter", advertising: [AdvertisingDescription(AdvertisingData())],
                    channels: [ChannelDescription(psm: 0x90)]), handler: Greeter()))
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let events = try await fixture.run(.request(link: link, operation: op(1), .openChannel(psm: 0x90)))
        let channel = try #require(device.channels.first)
        #expect(events.last == .channel(channel, .received(Data("hello".utf8))))
        let ended = try await fixture.run(.channel(channel, .send(Data([1, 2, 3]))))
        #expect(ended.last == .channel(channel, .closed))
    }
}
