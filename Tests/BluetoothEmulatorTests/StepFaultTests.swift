import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Faults of the steps that are not ATT requests; each fails, is delayed and pauses differently.
@Suite struct StepFaultTests {
    private static let level: BluetoothUUID = "2A19"

    private static let device = PeripheralDescription(
        name: "Device", advertising: [AdvertisingDescription(AdvertisingData(), interval: .milliseconds(20))],
        services: [
            ServiceDescription(
                "180F",
                characteristics: [
                    CharacteristicDescription(
                        level, [.read, .writeWithoutResponse, .notify], value: Data([1]),
                        permissions: [.readable, .writeable])
                ])
        ], channels: [ChannelDescription(psm: 0x80)])

    /// A connected central, its link and the characteristic.
    private struct Scene {
        let fixture: Fixture
        let device: EmulatedDevice
        let link: LinkID
        let level: AttributeID

        init() async throws {
            fixture = Fixture()
            device = try fixture.emulator.add(StepFaultTests.device)
            try await fixture.powerOn()
            link = try await fixture.connect(device)
            level = try await fixture.attributes(link).characteristic(StepFaultTests.level)
        }

        func advance(_ seconds: Int) async throws { try await fixture.emulator.advance(by: .seconds(seconds)) }

        func command(_ byte: UInt8) -> CentralCommand {
            .writeCommand(link: link, attribute: level, value: Data([byte]))
        }

        func subscribe() async throws {
            _ = try await fixture.run(.request(link: link, operation: op(70), .setNotifying(level, true)))
        }

        /// Returns the first bytes of the values after the first `count` events.
        func values(from count: Int) -> [UInt8] {
            fixture.events(from: count).compactMap { event in
                if case .valueNotified(link, level, let value) = event { value.first } else { nil }
            }
        }
    }

    // MARK: Connecting

    @Test(arguments: [DeviceFault.Effect.fail(), .disconnect])
    func aConnectFails(effect: DeviceFault.Effect) async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(Self.device)
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        device.inject(DeviceFault(.connect, effect))
        let count = fixture.events.count
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1))
        let events = fixture.events(from: count)
        let error = BackendError(.connectionFailed, operation: "connect")
        #expect(events == [.connectFailed(peer: peer, operation: op(1), error: error)])
        _ = try await fixture.connect(device)
        #expect(device.connectionCount == 1)
    }

    @Test func aConnectIsLateOrWaitsUntilItIsResumed() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(Self.device)
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        for effect in [DeviceFault.Effect.delay(.seconds(5)), .pause] {
            device.inject(DeviceFault(.connect, effect))
            fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
            try await fixture.emulator.advance(by: .seconds(4))
            #expect(device.connectionCount == 0)
            try await fixture.emulator.advance(by: .seconds(4))
            #expect(device.connectionCount == (effect == .pause ? 0 : 1))
            device.resume()
            try await fixture.emulator.advance(by: .seconds(1))
            #expect(device.connectionCount == 1)
            _ = try await fixture.run(.disconnect(peer: peer))
        }
        #expect(fixture.events.filter { $0.kind == .connected }.count == 2)
    }

    @Test func aConnectThatIsGivenUpWhileItPausesStaysGivenUp() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(Self.device)
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        device.inject(DeviceFault(.connect, .pause))
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1))
        fixture.submit(.disconnect(peer: peer))
        device.resume()
        try await fixture.emulator.runUntilIdle()
        #expect(device.connectionCount == 0)
        #expect(!fixture.events.contains { $0.kind == .connected })
    }

    // MARK: Write commands

    @Test func aWriteCommandIsLostAndTheNextIsNot() async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.writeCommand, .fail(), of: "2A19"))
        let events = try await scene.fixture.run(scene.command(7))
        #expect(scene.device.value(of: "2A19") == Data([1]))
        // The link is free again, whether or not the device performs the request.
        #expect(events == [.writeCredits(link: scene.link, count: 1)])
        _ = try await scene.fixture.run(scene.command(8))
        #expect(scene.device.value(of: "2A19") == Data([8]))
    }

    @Test(arguments: [DeviceFault.Effect.delay(.seconds(5)), .pause])
    func aWriteCommandThatIsHeldUpIsDoneBeforeThoseBehindIt(effect: DeviceFault.Effect) async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.writeCommand, effect))
        scene.fixture.submit(scene.command(7))
        scene.fixture.submit(scene.command(8))
        try await scene.advance(4)
        #expect(scene.device.value(of: "2A19") == Data([1]))
        scene.device.resume()
        try await scene.advance(2)
        #expect(scene.device.value(of: "2A19") == Data([8]))
    }

    // MARK: Values

    @Test func aValueIsLost() async throws {
        let scene = try await Scene()
        try await scene.subscribe()
        let count = scene.fixture.events.count
        scene.device.inject(DeviceFault(.notify, .fail(), skip: 1))
        for byte in UInt8(1)...3 { scene.device.notify("2A19", value: Data([byte])) }
        try await scene.advance(1)
        #expect(scene.values(from: count) == [1, 3])
    }

    @Test(arguments: [DeviceFault.Effect.delay(.seconds(5)), .pause])
    func aValueThatIsHeldUpComesBeforeThoseBehindIt(effect: DeviceFault.Effect) async throws {
        let scene = try await Scene()
        try await scene.subscribe()
        let count = scene.fixture.events.count
        scene.device.inject(DeviceFault(.notify, effect, of: "2A19"))
        for byte in UInt8(1)...3 { scene.device.notify("2A19", value: Data([byte])) }
        try await scene.advance(4)
        #expect(scene.values(from: count) == [])
        scene.device.resume()
        try await scene.advance(2)
        #expect(scene.values(from: count) == [1, 2, 3])
    }

    @Test func aLineThatStoodForAValueNobodyWantsAnyMoreGoesOn() async throws {
        let scene = try await Scene()
        try await scene.subscribe()
        scene.device.inject(DeviceFault(.notify, .pause))
        scene.device.notify("2A19", value: Data([1]))
        try await scene.advance(1)
        _ = try await scene.fixture.run(
            .request(link: scene.link, operation: op(71), .setNotifying(scene.level, false)))
        try await scene.subscribe()
        let count = scene.fixture.events.count
        scene.device.resume()
        scene.device.notify("2A19", value: Data([2]))
        try await scene.advance(1)
        #expect(scene.values(from: count).last == 2)
    }

    // MARK: The signal and channels

    @Test func theSignalIsNotMeasuredOrLaterWhileReadsGoOn() async throws {
        let scene = try await Scene()
        let link = scene.link
        scene.device.inject(DeviceFault(.readRSSI, .fail()))
        scene.device.inject(DeviceFault(.readRSSI, .delay(.seconds(40))))
        let error = BackendError(.unknown, operation: "read RSSI")
        let failed = try await scene.fixture.run(.request(link: link, operation: op(1), .readRSSI))
        #expect(failed == [.response(link: link, operation: op(1), .failure(error))])
        let events = try await scene.fixture.run(
            .request(link: link, operation: op(2), .readRSSI),
            .request(link: link, operation: op(3), .read(scene.level)))
        #expect(events.map(\.kind) == [.valueRead, .rssiRead])
    }

    @Test func aChannelIsRefusedOrOpensWhenItIsResumed() async throws {
        let scene = try await Scene()
        let link = scene.link
        scene.device.inject(DeviceFault(.openChannel, .fail()))
        scene.device.inject(DeviceFault(.openChannel, .pause))
        let refused = try await scene.fixture.run(.request(link: link, operation: op(1), .openChannel(psm: 0x80)))
        guard case .response(link, op(1), .failure(let error))? = refused.first else { throw Unexpected("\(refused)") }
        #expect(error.code == .outOfSpace)
        let count = scene.fixture.events.count
        scene.fixture.submit(.request(link: link, operation: op(2), .openChannel(psm: 0x80)))
        try await scene.advance(60)
        #expect(scene.fixture.events(from: count) == [])
        scene.device.resume()
        try await scene.advance(1)
        #expect(scene.fixture.events(from: count).map(\.kind) == [.channelOpened])
    }

    // MARK: Pairing

    @Test func aPairingIsRefusedByAFault() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        fixture.device.inject(DeviceFault(.pair, .fail()))
        let link = try await fixture.beginRead()
        #expect(fixture.failure == .operationNotSupported)
        #expect(fixture.central.events.last == SecureFixture.refused(link))
    }

    @Test(arguments: [DeviceFault.Effect.delay(.seconds(10)), .pause])
    func aPairingThatIsHeldUpGoesOn(effect: DeviceFault.Effect) async throws {
        let fixture = try await SecureFixture()
        fixture.device.inject(DeviceFault(.pair, effect))
        let link = try await fixture.beginRead()
        try await fixture.emulator.advance(by: .seconds(9))
        #expect(!fixture.emulator.host.isBonded(with: fixture.device))
        fixture.device.resume()
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(fixture.emulator.host.isBonded(with: fixture.device))
        #expect(fixture.central.events.last == SecureFixture.value(link))
    }

    @Test func aPairingThatPausesForThirtySecondsFails() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        fixture.device.inject(DeviceFault(.pair, .pause))
        let link = try await fixture.beginRead()
        try await fixture.emulator.advance(by: .seconds(31))
        #expect(fixture.failure == .encryptionTimedOut)
        #expect(fixture.central.events.last == SecureFixture.refused(link))
    }

    // MARK: Any step

    @Test(arguments: [DeviceFault.Step.read, .writeCommand, .notify, .readRSSI, .discoverServices])
    func theLinkEndsAtAStep(step: DeviceFault.Step) async throws {
        let scene = try await Scene()
        try await scene.subscribe()
        scene.device.inject(DeviceFault(step, .disconnect))
        let count = scene.fixture.events.count
        scene.fixture.submit(.request(link: scene.link, operation: op(1), .read(scene.level)))
        scene.fixture.submit(scene.command(2))
        scene.fixture.submit(.request(link: scene.link, operation: op(2), .readRSSI))
        scene.fixture.submit(.request(link: scene.link, operation: op(3), .discoverServices(nil)))
        scene.device.notify("2A19", value: Data([1]))
        try await scene.advance(1)
        let ends = scene.fixture.events(from: count).filter { $0.kind == .disconnected }
        guard ends.count == 1, case .disconnected(scene.link, .remote, _, _, _)? = scene.fixture.events.last else {
            throw Unexpected("\(scene.fixture.events(from: count))")
        }
    }
}
