#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// L2CAP channels between hosts on real sockets and the world.
@Suite(.timeLimit(.minutes(2))) final class HostChannelTests: Sendable {
    private static let described = PeripheralDescription.box(channels: [
        ChannelDescription(psm: 0x80, echo: true), ChannelDescription(psm: 0x81, isEncryptionRequired: true),
    ])

    private let emulator: Emulator
    private let ports = Lock<[HCIPort]>([])

    init() {
        var configuration = EmulatorConfiguration.instant
        configuration.channelBuffer = 200
        emulator = Emulator(configuration: configuration)
    }

    private func open(_ name: String = "external") throws -> TestHost {
        let port = try HCIPort.open(emulator, host: name, on: .tcp(port: 0))
        ports.withLock { $0.append(port) }
        return try TestHost(port)
    }

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    // MARK: The host as the central

    private func connect() async throws -> (host: TestHost, link: UInt16) {
        let host = try open()
        _ = try emulator.add(Self.described)
        try await host.begin()
        return (host, try await host.connect(to: try await host.find("Box")))
    }

    @Test func aDescribedDeviceSendsBackAStream() async throws {
        let (host, link) = try await connect()
        let (number, result) = try await host.openChannel(0x80, on: link)
        #expect(result == .success)
        // More than all buffers on the way have room for.
        host.send(bytes(20_000), onChannel: number, of: link)
        let echo = try await host.channel("the echo", of: link) { $0 == number && $1.received.count >= 20_000 }
        #expect(echo.stream.received == bytes(20_000))
        #expect(echo.stream.sent == 20_000)
        host.closeChannel(number, of: link)
        // The link stays, and so do further channels.
        let (second, again) = try await host.openChannel(0x80, on: link)
        #expect(again == .success)
        host.send([1, 2], onChannel: second, of: link)
        try await host.channel("another echo", of: link) { $0 == second && $1.received == [1, 2] }
        #expect(try #require(emulator.devices.first).channels.count == 1)
    }

    @Test func aHostWithoutCreditsReceivesNothingUntilItGivesSome() async throws {
        let (host, link) = try await connect()
        host.setChannels { $0.consumes = false }
        let (number, _) = try await host.openChannel(0x80, on: link)
        host.send(bytes(10_000), onChannel: number, of: link)
        // Four packets of 32 bytes at most are in the buffer of the host.
        let first = try await host.channel("the first bytes", of: link) { $0 == number && $1.received.count >= 64 }
        #expect(first.stream.received.count <= 128)
        // A round trip later, there is no more.
        guard case .failed = try await host.perform(.read(handle: 0x7777), on: link) else {
            Issue.record("there is no such attribute")
            return
        }
        let later = try await host.channel("the channel", of: link) { number == $0 && !$1.isClosed }
        #expect(later.stream.received.count <= 128)
        host.consumeChannels(on: link)
        let all = try await host.channel("all bytes", of: link) { $0 == number && $1.received.count >= 10_000 }
        #expect(all.stream.received == bytes(10_000))
    }

    @Test func aNumberAtWhichNothingListensIsNotSupported() async throws {
        let (host, link) = try await connect()
        #expect(try await host.openChannel(0x82, on: link).result == .unsupportedPSM)
    }

    @Test func aChannelThatRequiresEncryptionIsRefusedWithTheReason() async throws {
        let (host, link) = try await connect()
        #expect(try await host.openChannel(0x81, on: link).result == .insufficientAuthentication)
        let number = try #require(emulator.devices.first?.connections.first?.link)
        emulator.control(link: number, .setSecurity(.bonded))
        #expect(try await host.openChannel(0x81, on: link).result == .insufficientEncryption)
        emulator.control(link: number, .setSecurity(.encrypted))
        #expect(try await host.openChannel(0x81, on: link).result == .success)
    }

    @Test func aFaultOfADeviceRefusesAChannelForLackOfRoom() async throws {
        let (host, link) = try await connect()
        try #require(emulator.devices.first).inject(DeviceFault(.openChannel, .fail()))
        #expect(try await host.openChannel(0x80, on: link).result == .noResources)
        #expect(try await host.openChannel(0x80, on: link).result == .success)
    }

    @Test func aMalformedPacketEndsTheChannelAlone() async throws {
        let (host, link) = try await connect()
        let (number, _) = try await host.openChannel(0x80, on: link)
        // The unit has another length than it says; the identifier at the device is the first one.
        host.sendPacket([1, 0, 2, 3], on: 0x40, of: link)
        try await host.channel("the end of the channel", of: link) { $0 == number && $1.isClosed }
        #expect(try await host.openChannel(0x80, on: link).result == .success)
        #expect(try #require(emulator.devices.first).channels.count == 1)
    }

    @Test func aDeviceClosesAChannelAfterItsBytes() async throws {
        let (host, link) = try await connect()
        let (number, _) = try await host.openChannel(0x80, on: link)
        let device = try #require(emulator.devices.first)
        let channel = try #require(device.channels.first)
        device.send(Data(bytes(3_000)), on: channel)
        device.close(channel)
        let ended = try await host.channel("the end of the channel", of: link) { $0 == number && $1.isClosed }
        #expect(ended.stream.received == bytes(3_000))
    }

    // MARK: An app as the central

    private func connectApp(
        _ change: @escaping @Sendable (inout TestChannels.Behavior) -> Void
    ) async throws -> (host: TestHost, handle: UInt16, central: TestCentral, link: LinkID) {
        let host = try open()
        try await host.begin()
        host.setChannels(change)
        try await host.advertise("Firmware", ServedAttributes([]))
        let central = TestCentral(emulator)
        let (_, link) = try await central.connect(to: "Firmware")
        return (host, try await host.link(isCentral: false), central, link)
    }

    private func channel(_ central: TestCentral, _ link: LinkID) async throws -> (id: ChannelID, credits: Int) {
        guard case .channel(let id, let credits) = try await central.request(.openChannel(psm: 0x90), on: link) else {
            throw TestHost.Failure(description: "no channel")
        }
        return (id, credits)
    }

    @Test func anAppAndAPeripheralSendStreamsToEachOther() async throws {
        let (host, handle, central, link) = try await connectApp { $0.answers[0x90] = .success }
        let (id, credits) = try await channel(central, link)
        #expect(credits == 200)
        central.role.submit(.channel(id, .send(Data(bytes(150)))))
        let (number, stream) = try await host.channel("the bytes of the app", of: handle) { $1.received.count >= 150 }
        #expect(stream.received == bytes(150))
        #expect(stream.psm == 0x90)
        host.send(bytes(5_000), onChannel: number, of: handle)
        // The app consumes what it has received.
        var received = Data()
        while received.count < 5_000 {
            received += try await central.received(on: id, after: received.count)
            #expect(received.count <= 5_000)
        }
        #expect(received == Data(bytes(5_000)))
        central.role.submit(.channel(id, .close))
        try await host.channel("the end of the channel", of: handle) { $0 == number && $1.isClosed }
    }

    @Test func theCreditsOfAPeripheralHoldUpTheApp() async throws {
        let (host, handle, central, link) = try await connectApp {
            $0.answers[0x90] = .success
            $0.consumes = false
        }
        let (id, credits) = try await channel(central, link)
        central.role.submit(.channel(id, .send(Data(bytes(credits)))))
        let first = try await host.channel("the first bytes", of: handle) { $1.received.count >= 64 }
        #expect(first.stream.received.count <= 128)
        host.consumeChannels(on: handle)
        try await host.channel("all bytes", of: handle) { $1.received == self.bytes(200) }
        // The credits come back as the bytes leave.
        try await central.credits(200, on: id)
    }

    @Test func aPeripheralThatDoesNotConsumeIsNotFlooded() async throws {
        let (host, handle, central, link) = try await connectApp { $0.answers[0x90] = .success }
        let (id, _) = try await channel(central, link)
        let (number, _) = try await host.channel("the channel", of: handle) { $1.psm == 0x90 }
        host.send(bytes(30_000), onChannel: number, of: handle)
        // An app that consumes nothing gets what its buffer has room for, and the peripheral keeps most.
        _ = try await central.received(on: id, after: 0, consuming: false)
        _ = try await central.request(.readRSSI, on: link)
        let (_, stream) = try await host.channel("the channel", of: handle) { number == $0 && !$1.isClosed }
        #expect(stream.sent < 10_000)
        var received = Data()
        while received.count < 30_000 { received += try await central.received(on: id, after: received.count) }
        #expect(received == Data(bytes(30_000)))
    }

    @Test func aPeripheralClosesAChannelAfterItsBytes() async throws {
        let (host, handle, central, link) = try await connectApp { $0.answers[0x90] = .success }
        let (id, _) = try await channel(central, link)
        let (number, _) = try await host.channel("the channel", of: handle) { $1.psm == 0x90 }
        host.send(bytes(1_000), onChannel: number, of: handle)
        host.closeChannel(number, of: handle)
        var received = Data()
        while received.count < 1_000 { received += try await central.received(on: id, after: received.count) }
        #expect(received == Data(bytes(1_000)))
        try await central.event("the end of the channel") { event in
            if case .channel(id, .closed) = event { () } else { nil }
        }
    }

    @Test(
        arguments: [
            (.unsupportedPSM, BackendError.Code.operationNotSupported), (.noResources, .outOfSpace),
            (.unacceptableParameters, .outOfSpace),
        ] as [(ChannelResult, BackendError.Code)])
    func aPeripheralRefusesAChannel(_ result: ChannelResult, _ code: BackendError.Code) async throws {
        let (host, _, central, link) = try await connectApp { $0.answers[0x90] = result }
        defer { host.close() }
        guard case .failure(let error) = try await central.request(.openChannel(psm: 0x90), on: link) else {
            Issue.record("the peripheral refuses")
            return
        }
        #expect(error.code == code)
    }

    @Test func anAppThatHasLeftBeforeTheAnswerClosesTheChannel() async throws {
        let (host, handle, central, link) = try await connectApp { $0.holdsAnswers = true }
        central.role.submit(.request(link: link, operation: OperationID(rawValue: 99), .openChannel(psm: 0x90)))
        let (number, _) = try await host.channel("the request", of: handle) { $1.psm == 0x90 }
        // Another app keeps the link.
        let device = try #require(emulator.devices.first)
        emulator.host.connectOtherApp(to: device)
        let peer = try #require(device.identifier(onHost: "default"))
        central.role.submit(.disconnect(peer: peer))
        #expect(try await central.end(of: link) == .local)
        host.answerChannels(.success, on: handle)
        try await host.channel("the end of the channel", of: handle) { $0 == number && $1.isClosed }
        #expect(device.channels == [])
        #expect(device.connectionCount == 1)
    }

    @Test func aPeripheralOpensNoChannelOfAnApp() async throws {
        let (host, handle, central, link) = try await connectApp { _ in }
        #expect(try await host.openChannel(0x80, on: handle).result == .unsupportedPSM)
        // The link stays.
        guard case .rssi = try await central.request(.readRSSI, on: link) else {
            Issue.record("the link has ended")
            return
        }
    }

    @Test func theEndOfALinkEndsItsChannels() async throws {
        let (host, handle, central, link) = try await connectApp { $0.answers[0x90] = .success }
        _ = try await channel(central, link)
        try await host.disconnect(handle)
        #expect(try await central.end(of: link) == .remote)
        #expect(emulator.devices.flatMap(\.channels) == [])
    }

    // MARK: Two hosts

    @Test func channelsOfTwoHostsPassUnchanged() async throws {
        let (phone, firmware) = (try open("phone"), try open("firmware"))
        try await firmware.begin()
        firmware.setChannels { $0.answers[0x90] = .success }
        try await firmware.advertise("Firmware", ServedAttributes([]))
        try await phone.begin()
        let link = try await phone.connect(to: try await phone.find("Firmware"))
        let handle = try await firmware.link(isCentral: false)
        let (number, result) = try await phone.openChannel(0x90, on: link)
        #expect(result == .success)
        phone.send(bytes(5_000), onChannel: number, of: link)
        let there = try await firmware.channel("the bytes", of: handle) { $1.received.count >= 5_000 }
        #expect(there.stream.received == bytes(5_000))
    }
}
#endif
