import BluetoothBackend
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothEmulator

/// Faults of steps that the device performs: their answers are lost, late or malformed.
@Suite struct AnswerFaultTests {
    private static let level: BluetoothUUID = "2A19"
    private static let state: BluetoothUUID = "2A1A"

    private static let device = PeripheralDescription(
        name: "Device", advertising: [AdvertisingDescription(AdvertisingData(), interval: .milliseconds(20))],
        services: [
            ServiceDescription(
                "180F",
                characteristics: [
                    CharacteristicDescription(
                        level, [.read, .write, .writeWithoutResponse, .notify], value: Data([1]),
                        permissions: [.readable, .writeable]),
                    CharacteristicDescription(
                        state, [.read, .indicate], value: Data(0..<100),
                        descriptors: [DescriptorDescription("2901", value: Data("State".utf8))]),
                ])
        ], maximumMTU: 23, channels: [ChannelDescription(psm: 0x80)])

    /// Records what the device is asked and told.
    private final class Handler: EmulatedPeripheralHandler {
        let calls = Lock<[String]>([])

        func respond(
            to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
        ) -> PeripheralResponse {
            calls.withLock { $0.append(request.kind == .read ? "read" : "write") }
            return .stored
        }

        func respond(
            to procedure: PeripheralProcedure, state: inout Void, device: inout DeviceActions
        ) -> ProcedureResponse {
            calls.withLock { $0.append("\(procedure.kind)") }
            return .granted
        }

        func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
            switch event {
            case .connected: calls.withLock { $0.append("connected") }
            case .disconnected: calls.withLock { $0.append("disconnected") }
            case .channelOpened: calls.withLock { $0.append("channelOpened") }
            default: break
            }
        }
    }

    /// A connected central with the device's characteristics.
    private struct Scene {
        let fixture: Fixture
        let device: EmulatedDevice
        let handler = Handler()
        let link: LinkID
        let service: AttributeID
        let level: AttributeID
        let state: AttributeID

        init(_ configuration: EmulatorConfiguration = .instant, seed: UInt64 = 1) async throws {
            fixture = Fixture(configuration, seed: seed)
            device = try fixture.emulator.add(EmulatedPeripheral(AnswerFaultTests.device, handler: handler))
            try await fixture.powerOn()
            link = try await fixture.connect(device)
            let found = try await fixture.attributes(link)
            service = try found.service("180F")
            level = try found.characteristic(AnswerFaultTests.level)
            state = try found.characteristic(AnswerFaultTests.state)
            handler.calls.withLock { $0 = [] }
        }

        var calls: [String] { handler.calls.withLock { $0 } }

        func advance(_ seconds: Int) async throws { try await fixture.emulator.advance(by: .seconds(seconds)) }

        func request(_ number: UInt64, _ request: LinkRequest) -> CentralCommand {
            .request(link: link, operation: op(number), request)
        }

        func command(_ byte: UInt8) -> CentralCommand {
            .writeCommand(link: link, attribute: level, value: Data([byte]))
        }

        /// The kinds of the events after the first `count` ones, without those about write credits.
        func kinds(from count: Int) -> [CentralEvent.Kind] {
            fixture.events(from: count).map(\.kind).filter { $0 != .writeCredits }
        }

        /// Waits for the supervision timeout, and checks that the link ended by it without an answer before.
        func expectLoss(after count: Int, _ place: SourceLocation = #_sourceLocation) async throws {
            try await advance(3)
            #expect(kinds(from: count) == [], sourceLocation: place)
            try await advance(2)
            #expect(kinds(from: count) == [.disconnected], sourceLocation: place)
            guard case .disconnected(link, .timeout, _, _, _)? = fixture.events.last else {
                throw Unexpected("\(fixture.events(from: count))")
            }
        }
    }

    // MARK: Lost answers

    @Test func aWriteIsStoredAndItsAnswerIsLostWithTheLink() async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.write, .loseAnswer, of: "2A19"))
        let count = scene.fixture.events.count
        scene.fixture.submit(scene.request(1, .write(scene.level, Data([7]))))
        scene.fixture.submit(scene.request(2, .write(scene.level, Data([8]))))
        try await scene.expectLoss(after: count)
        // The device has acted once; what waited behind the lost answer never reached it.
        #expect(scene.calls == ["write", "disconnected"])
        #expect(scene.device.value(of: "2A19") == Data([7]))
        #expect(scene.device.connectionCount == 0)
        _ = try await scene.fixture.connect(scene.device)
    }

    @Test(arguments: [
        DeviceFault.Step.read, .discoverServices, .discoverIncludedServices, .discoverCharacteristics,
        .discoverDescriptors, .subscribe, .openChannel,
    ])
    func aRequestReachesTheDeviceAndItsAnswerIsLost(step: DeviceFault.Step) async throws {
        let scene = try await Scene()
        let request: LinkRequest =
            switch step {
            case .read: .read(scene.level)
            case .discoverServices: .discoverServices(nil)
            case .discoverIncludedServices: .discoverIncludedServices(of: scene.service, nil)
            case .discoverCharacteristics: .discoverCharacteristics(of: scene.service, nil)
            case .discoverDescriptors: .discoverDescriptors(of: scene.state)
            case .subscribe: .setNotifying(scene.level, true)
            default: .openChannel(psm: 0x80)
            }
        scene.device.inject(DeviceFault(step, .loseAnswer))
        let count = scene.fixture.events.count
        scene.fixture.submit(scene.request(1, request))
        try await scene.advance(1)
        #expect(scene.calls == [step == .openChannel ? "channelOpened" : step.rawValue])
        #expect(scene.device.subscriberCount(of: "2A19") == (step == .subscribe ? 1 : 0))
        try await scene.advance(4)
        #expect(scene.kinds(from: count) == [.disconnected])
        #expect(scene.device.subscriberCount(of: "2A19") == 0)
        #expect(scene.device.presentDescription?.faults == [])
    }

    @Test func aSubscriptionHasEndedAndTheAnswerIsLost() async throws {
        let scene = try await Scene()
        _ = try await scene.fixture.run(scene.request(1, .setNotifying(scene.level, true)))
        scene.device.inject(DeviceFault(.unsubscribe, .loseAnswer))
        let count = scene.fixture.events.count
        scene.fixture.submit(scene.request(2, .setNotifying(scene.level, false)))
        try await scene.advance(1)
        #expect(scene.device.subscriberCount(of: "2A19") == 0)
        #expect(scene.device.connectionCount == 1)
        try await scene.advance(4)
        #expect(scene.kinds(from: count) == [.disconnected])
    }

    @Test func theAnswerOfAManagerIsLost() async throws {
        let fixture = Fixture()
        let manager = PeripheralFixture(fixture.emulator, host: "default")
        try await manager.publish()
        let server = try #require(fixture.emulator.host.peripheral)
        try fixture.emulator.add(HostDescription(name: "phone"))
        let phone = Fixture(host: "phone", emulator: fixture.emulator)
        try await phone.powerOn()
        let peer = try await phone.find(server, host: "phone")
        phone.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await phone.wait { if case .connected = $0 { true } else { false } }
        try await fixture.emulator.advance(by: .seconds(1))
        let link = try #require(phone.lastLink)
        let value = try await phone.attributes(link).characteristic("C0D1")
        server.inject(DeviceFault(.write, .loseAnswer))
        let (count, before) = (phone.events.count, manager.events.count)
        phone.submit(.request(link: link, operation: op(2), .write(value, Data([7]))))
        guard case .writeRequested(_, _, _, _, let parts) = try await manager.nextRequest(from: before) else {
            throw Unexpected("\(manager.events)")
        }
        #expect(parts.map(\.value) == [Data([7])])
        try manager.answer()
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(phone.events(from: count).map(\.kind) == [.disconnected])
    }

    @Test func aConnectSucceedsAndTheLinkIsLostAtOnce() async throws {
        let fixture = Fixture()
        let handler = Handler()
        let device = try fixture.emulator.add(EmulatedPeripheral(Self.device, handler: handler))
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        device.inject(DeviceFault(.connect, .loseAnswer))
        let count = fixture.events.count
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(device.connectionCount == 1)
        let link = try #require(fixture.lastLink)
        fixture.submit(.request(link: link, operation: op(2), .discoverServices(nil)))
        try await fixture.emulator.advance(by: .seconds(4))
        #expect(fixture.events(from: count).map(\.kind) == [.connected, .disconnected])
        #expect(handler.calls.withLock { $0 } == ["connected", "disconnected"])
        let second = try await fixture.connect(device)
        #expect(try await fixture.attributes(second).services.isEmpty == false)
    }

    @Test func aConnectThatTheDeviceRefusesLosesNoLaterLink() async throws {
        struct Refusal: EmulatedPeripheralHandler {
            func makeState() -> Int { 0 }

            func respond(
                to request: ConnectionRequest, state: inout Int, device: inout DeviceActions
            ) -> ConnectionResponse {
                state += 1
                return state == 1 ? .refused : .accepted
            }
        }
        let fixture = Fixture()
        let device = try fixture.emulator.add(EmulatedPeripheral(Self.device, handler: Refusal()))
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        device.inject(DeviceFault(.connect, .loseAnswer))
        let count = fixture.events.count
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(fixture.events(from: count).map(\.kind) == [.connectFailed])
        _ = try await fixture.connect(device)
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(device.connectionCount == 1)
    }

    @Test func aWriteCommandArrivesAndThoseBehindItDoNot() async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.writeCommand, .loseAnswer, skip: 1))
        let count = scene.fixture.events.count
        for byte in UInt8(5)...8 { scene.fixture.submit(scene.command(byte)) }
        try await scene.expectLoss(after: count)
        #expect(scene.device.value(of: "2A19") == Data([6]))
        #expect(scene.calls == ["write", "write", "disconnected"])
    }

    @Test func aWriteCommandThatLosesTheLinkWaitsForThoseBeforeIt() async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.writeCommand, .delay(.seconds(5))))
        scene.device.inject(DeviceFault(.writeCommand, .loseAnswer))
        let count = scene.fixture.events.count
        for byte in UInt8(5)...7 { scene.fixture.submit(scene.command(byte)) }
        try await scene.advance(4)
        #expect(scene.calls == [])
        try await scene.advance(2)
        #expect(scene.device.value(of: "2A19") == Data([6]))
        try await scene.advance(4)
        #expect(scene.kinds(from: count) == [.disconnected])
        #expect(scene.calls == ["write", "write", "disconnected"])
    }

    @Test(arguments: ["2A19", "2A1A"] as [BluetoothUUID])
    func aValueArrivesAndThenTheLinkIsLost(characteristic: BluetoothUUID) async throws {
        let scene = try await Scene()
        let attribute = characteristic == Self.level ? scene.level : scene.state
        _ = try await scene.fixture.run(scene.request(1, .setNotifying(attribute, true)))
        scene.device.inject(DeviceFault(.notify, .loseAnswer))
        let count = scene.fixture.events.count
        let path = CharacteristicPath(characteristic)
        for byte in UInt8(5)...6 { scene.device.notify(path, value: Data([byte])) }
        try await scene.advance(5)
        #expect(scene.kinds(from: count) == [.valueNotified, .disconnected])
        #expect(
            scene.fixture.events(from: count).first
                == .valueNotified(link: scene.link, attribute: attribute, value: Data([5])))
    }

    @Test func onlyTheDeviceHasTheKeysOfAPairingWhoseAnswerIsLost() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        fixture.device.inject(DeviceFault(.pair, .loseAnswer))
        let link = try await fixture.beginRead()
        try await fixture.answer(.accept)
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(fixture.failure == .peerDisconnected)
        #expect(!fixture.emulator.host.isBonded(with: fixture.device))
        guard case .disconnected(link, .timeout, _, _, _)? = fixture.central.events.last else {
            throw Unexpected("\(fixture.central.events)")
        }
        // The device knows the host by its keys; the host pairs again.
        let second = try await fixture.beginRead()
        try await fixture.answer(.accept)
        #expect(fixture.emulator.host.isBonded(with: fixture.device))
        #expect(fixture.central.events.last == SecureFixture.value(second))
    }

    @Test func aRequestThatNeedsAPairingLosesItsFinalAnswer() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        fixture.device.inject(DeviceFault(.read, .loseAnswer, count: 2))
        let link = try await fixture.beginRead()
        try await fixture.answer(.accept)
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(fixture.emulator.host.isBonded(with: fixture.device))
        #expect(!fixture.central.events.contains(SecureFixture.value(link)))
        #expect(fixture.central.events.last?.kind == .disconnected)
        #expect(fixture.device.presentDescription?.faults == [DeviceFault(.read, .loseAnswer)])
    }

    // MARK: Late answers

    @Test func aWriteIsStoredAtOnceAndAnsweredLater() async throws {
        let scene = try await Scene()
        _ = try await scene.fixture.run(scene.request(1, .setNotifying(scene.level, true)))
        scene.device.inject(DeviceFault(.write, .delayAnswer(.seconds(7))))
        let count = scene.fixture.events.count
        scene.fixture.submit(scene.request(2, .write(scene.level, Data([5]))))
        scene.fixture.submit(scene.request(3, .read(scene.level)))
        try await scene.advance(1)
        #expect(scene.device.value(of: "2A19") == Data([5]))
        scene.device.notify("2A19", value: Data([6]))
        try await scene.advance(5)
        #expect(scene.kinds(from: count) == [.valueNotified])
        try await scene.advance(2)
        #expect(
            Array(scene.fixture.events(from: count).dropFirst()) == [
                .response(link: scene.link, operation: op(2), .written),
                .response(link: scene.link, operation: op(3), .value(Data([6]))),
            ])
        // The request is answered, so its timeout has ended.
        try await scene.advance(60)
        #expect(scene.device.connectionCount == 1)
    }

    @Test func anAnswerThatIsThirtySecondsLateEndsTheLink() async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.write, .delayAnswer(.seconds(31))))
        let events = try await scene.fixture.run(scene.request(1, .write(scene.level, Data([5]))))
        guard case .disconnected(scene.link, .timeout, _, _, _)? = events.last, events.count == 1 else {
            throw Unexpected("\(events)")
        }
        #expect(scene.device.value(of: "2A19") == Data([5]))
    }

    @Test func aLongValueIsLateAsAWhole() async throws {
        let scene = try await Scene(.default)
        scene.device.inject(DeviceFault(.read, .delayAnswer(.seconds(5))))
        let count = scene.fixture.events.count
        scene.fixture.submit(scene.request(1, .read(scene.state)))
        try await scene.advance(5)
        #expect(scene.kinds(from: count) == [])
        try await scene.advance(2)
        #expect(
            scene.fixture.events(from: count) == [
                .response(link: scene.link, operation: op(1), .value(Data(0..<100)))
            ])
    }

    @Test func aLateAnswerWaitsForTheDeviceToComeBack() async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.write, .delayAnswer(.seconds(2))))
        let count = scene.fixture.events.count
        scene.fixture.submit(scene.request(1, .write(scene.level, Data([5]))))
        try await scene.advance(1)
        scene.device.setProximity(.outOfRange)
        try await scene.advance(2)
        #expect(scene.kinds(from: count) == [])
        scene.device.setProximity(.near)
        try await scene.advance(1)
        #expect(scene.kinds(from: count) == [.written])
    }

    // MARK: Malformed values

    @Test func theValueOfAReadIsMalformedAndTheDeviceKeepsItsOwn() async throws {
        let stored = Data(0..<100)
        var forms: Set<String> = []
        for seed in UInt64(1)...24 {
            let scene = try await Scene(seed: seed)
            scene.device.inject(DeviceFault(.read, .corrupt))
            let events = try await scene.fixture.run(
                scene.request(1, .read(scene.state)), scene.request(2, .read(scene.state)))
            guard case .response(_, op(1), .value(let value))? = events.first else {
                throw Unexpected("\(events), seed \(seed)")
            }
            #expect(value != stored, "seed \(seed)")
            #expect(events.last == .response(link: scene.link, operation: op(2), .value(stored)), "seed \(seed)")
            #expect(scene.device.value(of: "2A1A") == stored, "seed \(seed)")
            forms.insert(
                value.isEmpty
                    ? "empty" : value.count < 100 ? "truncated" : value.count > 100 ? "lengthened" : "flipped")
        }
        #expect(forms == ["empty", "truncated", "lengthened", "flipped"])
    }

    @Test func aMalformedNotificationFitsIntoAPacket() async throws {
        for seed in UInt64(1)...12 {
            let scene = try await Scene(seed: seed)
            _ = try await scene.fixture.run(scene.request(1, .setNotifying(scene.level, true)))
            scene.device.inject(DeviceFault(.notify, .corrupt))
            let count = scene.fixture.events.count
            let value = Data(repeating: 3, count: 20)
            for _ in 0..<2 { scene.device.notify("2A19", value: value) }
            try await scene.advance(1)
            let values = scene.fixture.events(from: count).compactMap { event -> Data? in
                if case .valueNotified(_, _, let value) = event { value } else { nil }
            }
            #expect(values.count == 2, "seed \(seed)")
            #expect(values.first != value && values.first?.count ?? .max <= 20, "seed \(seed)")
            #expect(values.last == value, "seed \(seed)")
            #expect(scene.device.value(of: "2A19") == value, "seed \(seed)")
        }
    }

    @Test(arguments: [Data(), Data([7]), Data(0..<20)])
    func aMalformedValueIsAnotherValueOfAllowedLength(value: Data) {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<1000 {
            let malformed = value.malformed(by: random.next(), upTo: 20)
            #expect(malformed != value)
            #expect(malformed.count <= 20)
        }
    }

    // MARK: Steps to which an effect does not apply

    @Test func aFaultThatDoesNotApplyIsNotInjectedAndTheTraceSaysSo() async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.readRSSI, .loseAnswer))
        scene.device.inject(DeviceFault(.connect, .delayAnswer(.seconds(1))))
        scene.device.inject(DeviceFault(.write, .corrupt))
        try await scene.advance(1)
        #expect(scene.device.presentDescription?.faults == [])
        let notes = scene.fixture.emulator.trace.map(\.text).filter { $0.contains("fault ignored") }
        #expect(
            notes == [
                "fault ignored: readRSSI has no answer from the device",
                "fault ignored: connect has no answer that can come late", "fault ignored: write returns no value",
            ])
    }

    @Test func theTraceNamesTheFaultAsAWorldFileDoes() async throws {
        let scene = try await Scene()
        scene.device.inject(DeviceFault(.write, .delayAnswer(.seconds(2))))
        scene.device.inject(DeviceFault(.read, .corrupt))
        _ = try await scene.fixture.run(
            scene.request(1, .write(scene.level, Data([5]))), scene.request(2, .read(scene.level)))
        let notes = scene.fixture.emulator.trace.map(\.text).filter { $0.contains("fault applied") }
        #expect(
            notes == [
                "\"Device\": fault applied to write: delayAnswer 2.0 seconds",
                "\"Device\": fault applied to read: corrupt",
            ])
    }
}
