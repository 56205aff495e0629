import BluetoothBackend
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothEmulator

/// The world's part of hosts outside of the emulator, which speak the Attribute Protocol and pair by themselves.
@Suite struct ExternalHostTests {
    private static let box = PeripheralDescription(
        name: "Box", advertising: [.init(AdvertisingData())],
        services: [
            ServiceDescription(
                "FFF0",
                characteristics: [
                    CharacteristicDescription(
                        "FFF1", .read, value: Data([1]), permissions: .readEncryptionRequired),
                    CharacteristicDescription("FFF2", [.read, .notify], value: Data([2])),
                ])
        ])

    /// An external central that is connected to the box.
    private struct Scene {
        let fixture: Fixture
        let external: ExternalCentral
        let device: EmulatedDevice
        let link: LinkID

        var emulator: Emulator { fixture.emulator }

        init(_ configuration: EmulatorConfiguration = .instant) async throws {
            let emulator = Emulator(configuration: configuration, time: .virtual, seed: 1)
            external = emulator.host.makeExternalCentral()
            fixture = Fixture(emulator: emulator, central: external.role)
            device = try emulator.add(EmulatedPeripheral(ExternalHostTests.box))
            try await fixture.powerOn()
            link = try await fixture.connect(device)
        }

        func number() throws -> UInt32 { try #require(external.connection(of: link)).link }

        /// The value or the ATT error code of a read; nil without an answer.
        func read(handle: UInt16) async throws -> LinkResponse? {
            let id = try #require(device.attributesByHandle[handle])
            let events = try await fixture.run(.request(link: link, operation: op(1), .read(id)))
            guard case .response(_, _, let response)? = events.first else { return nil }
            return response
        }
    }

    @Test func anExchangeTakesARoundTripAndReadsNothing() async throws {
        let scene = try await Scene(.default)
        let tap = TapRecorder(scene.emulator, .att)
        let start = scene.emulator.now
        scene.external.exchange(on: scene.link, op(7))
        try await scene.fixture.wait { $0 == .response(link: scene.link, operation: op(7), .written) }
        let interval = try #require(scene.external.connection(of: scene.link)).parameters.interval
        #expect((interval...interval * 3).contains(scene.emulator.now - start))
        #expect(tap.att().isEmpty)
    }

    @Test func anExchangeOnASilentLinkIsNotAnswered() async throws {
        let scene = try await Scene(.default)
        scene.device.setProximity(.outOfRange)
        let events = try await scene.fixture.run()
        #expect(!events.contains { if case .response = $0 { true } else { false } })
        scene.external.exchange(on: scene.link, op(7))
        try await scene.emulator.advance(by: .seconds(60))
        #expect(!scene.fixture.events.contains(.response(link: scene.link, operation: op(7), .written)))
    }

    @Test func anAttributeThatNeedsEncryptionIsRefusedWithoutAPairing() async throws {
        let scene = try await Scene()
        let tap = TapRecorder(scene.emulator, .security)
        let handle = try #require(
            scene.device.attributes?.services.flatMap(\.characteristics).first { $0.uuid == "FFF1" }?.valueHandle)
        #expect(try await scene.read(handle: handle) == .failure(.att(0x05, operation: "read")))
        #expect(tap.kinds().isEmpty)
        scene.emulator.control(link: try scene.number(), .setSecurity(.bonded))
        #expect(try await scene.read(handle: handle) == .failure(.att(0x0F, operation: "read")))
        scene.emulator.control(link: try scene.number(), .setSecurity(.encrypted))
        #expect(try await scene.read(handle: handle) == .value(Data([1])))
    }

    @Test func aDeviceSeesTheAddressThatTheHostChose() async throws {
        let scene = try await Scene()
        scene.device.disconnect()
        try await scene.emulator.runUntilIdle()
        scene.external.setAddress("F0:F1:F2:F3:F4:F5")
        let link = try await scene.fixture.connect(scene.device)
        #expect(scene.external.connection(of: link)?.central.address == "F0:F1:F2:F3:F4:F5")
        #expect(scene.emulator.host.address != "F0:F1:F2:F3:F4:F5")
    }

    @Test(arguments: [EmulatorConfiguration.default, .instant])
    func aLinkHasTheParametersThatTheHostChose(_ configuration: EmulatorConfiguration) async throws {
        let scene = try await Scene(configuration)
        scene.device.disconnect()
        try await scene.emulator.runUntilIdle()
        let wanted = ConnectionParameters(
            interval: .milliseconds(100), peripheralLatency: 3, supervisionTimeout: .milliseconds(2_500))
        scene.external.setParameters(wanted)
        let link = try await scene.fixture.connect(scene.device)
        let parameters = try #require(scene.external.connection(of: link)).parameters
        // A world without latency stays without.
        #expect(parameters.interval == (configuration.connectionInterval == .zero ? .zero : wanted.interval))
        #expect(parameters.peripheralLatency == 3)
        #expect(parameters.supervisionTimeout == wanted.supervisionTimeout)
    }

    @Test(arguments: [DisconnectReason.remote, .authentication])
    func theReasonOfAnEndReachesTheCentralAndALaterControlDoesNothing(_ reason: DisconnectReason) async throws {
        let scene = try await Scene()
        let number = try scene.number()
        scene.emulator.control(link: number, .close(reason))
        try await scene.fixture.wait {
            if case .disconnected(scene.link, reason, _, _, _) = $0 { true } else { false }
        }
        #expect(scene.external.connection(of: scene.link) == nil)
        for control in [LinkControl.close(.remote), .setSecurity(.encrypted), .send(.central, channel: 4, [1])] {
            scene.emulator.control(link: number, control)
        }
        try await scene.emulator.runUntilIdle()
    }

    // MARK: Services

    private static let services = [
        TappedService(
            handles: 0x20...0x2F, uuid: "180F", isPrimary: true, included: [],
            characteristics: [
                TappedCharacteristic(
                    declarationHandle: 0x21, valueHandle: 0x22, properties: [.read, .notify], uuid: "2A19",
                    descriptors: [TappedDescriptor(handle: 0x28, uuid: "2902")])
            ]),
        TappedService(
            handles: 0x01...0x05, uuid: "1800", isPrimary: true, included: [],
            characteristics: [
                TappedCharacteristic(
                    declarationHandle: 0x02, valueHandle: 0x03, properties: .read, uuid: "2A00", descriptors: [])
            ]),
    ]

    @Test func replacedServicesKeepTheirHandles() async throws {
        let scene = try await DeviceFixture(Self.box)
        scene.device.replaceServices(Self.services, isIndicated: true)
        try await scene.emulator.runUntilIdle()
        #expect(scene.device.attributes?.services == Self.services.reversed())
        #expect(scene.fixture.events.contains { if case .servicesChanged = $0 { true } else { false } })
        let found = try await scene.fixture.attributes(scene.link)
        #expect(found.characteristics.map(\.handle) == [0x22])
        #expect(scene.device.handle(of: try found.characteristic("2A19")) == 0x22)
    }

    @Test func replacedServicesMayBeSilent() async throws {
        let scene = try await DeviceFixture(Self.box)
        scene.device.replaceServices(Self.services, isIndicated: false)
        try await scene.emulator.runUntilIdle()
        #expect(!scene.fixture.events.contains { if case .servicesChanged = $0 { true } else { false } })
    }

    @Test func servicesThatAreReplacedByEqualOnesStay() async throws {
        let scene = try await DeviceFixture(Self.box)
        scene.device.replaceServices(Self.services, isIndicated: false)
        try await scene.emulator.runUntilIdle()
        let level = try #require(scene.device.attributesByHandle[0x22])
        let other = TappedService(
            handles: 0x10...0x11, uuid: "FFE0", isPrimary: true, included: [], characteristics: [])
        scene.device.replaceServices(Self.services + [other], isIndicated: true)
        scene.device.replaceServices(Self.services, isIndicated: true)
        scene.device.replaceServices([Self.services[0], other], isIndicated: true)
        try await scene.emulator.runUntilIdle()
        let changes = scene.fixture.events.compactMap { event in
            if case .servicesChanged(_, let removed, let added) = event { [removed.count, added.count] } else { nil }
        }
        #expect(changes == [[0, 1], [1, 0], [1, 1]])
        #expect(scene.device.attributes?.services == [other, Self.services[0]])
        #expect(scene.device.attributesByHandle[0x22] == level)
    }

    @Test func handlesThatNoAttributeCanHaveAreLeftOut() async throws {
        let scene = try await DeviceFixture(Self.box)
        func service(_ handles: ClosedRange<UInt16>, value: UInt16, descriptor: UInt16) -> TappedService {
            TappedService(
                handles: handles, uuid: "180F", isPrimary: true, included: [],
                characteristics: [
                    TappedCharacteristic(
                        declarationHandle: value &- 1, valueHandle: value, properties: .read, uuid: "2A19",
                        descriptors: [TappedDescriptor(handle: descriptor, uuid: "2901")])
                ])
        }
        scene.device.replaceServices(
            [
                service(0...5, value: 3, descriptor: 4), service(6...9, value: 0, descriptor: 1),
                service(10...UInt16.max, value: .max, descriptor: .max),
                service(20...30, value: 22, descriptor: 0),
            ], isIndicated: false)
        try await scene.emulator.runUntilIdle()
        let services = try #require(scene.device.attributes?.services)
        #expect(services.map(\.handles.lowerBound) == [6, 10, 20])
        #expect(services.map(\.characteristics.count) == [0, 1, 1])
    }

    // MARK: Channels

    /// Gives one answer to all requests for channels.
    private struct Listener: ExternalPeripheralHandler {
        let answer: ChannelResponse

        func respond(to request: ChannelRequest) async -> ChannelResponse { answer }
    }

    /// A central that requests a channel of a host outside of the emulator.
    private final class ChannelScene: Sendable {
        let fixture: Fixture
        let peripheral: ExternalPeripheral
        let device: EmulatedDevice
        let link: LinkID
        private let received = Lock<[PeripheralEvent]>([])

        var emulator: Emulator { fixture.emulator }

        init(_ answer: (ExternalPeripheral) -> ChannelResponse) async throws {
            let emulator = Emulator(configuration: .instant, time: .virtual, seed: 1)
            peripheral = try emulator.add(HostDescription(name: "external")).makeExternalPeripheral()
            fixture = Fixture(emulator: emulator)
            device = try emulator.add(
                EmulatedPeripheral(ExternalHostTests.box, handler: Listener(answer: answer(peripheral))))
            try await fixture.powerOn()
            link = try await fixture.connect(device)
            peripheral.role.activate(
                PassingSink("external") { [weak self] event in self?.received.withLock { $0.append(event) } })
        }

        /// The events of the channels at the host.
        var events: [PeripheralEvent] { received.withLock { $0.filter { $0.channel != nil } } }

        func open() async throws -> LinkResponse? {
            let events = try await fixture.run(.request(link: link, operation: op(1), .openChannel(psm: 0x90)))
            guard case .response(link, op(1), let response)? = events.first else { return nil }
            return response
        }
    }

    @Test func aChannelThatTheHostAcceptsCarriesBytesForCredits() async throws {
        let scene = try await ChannelScene { .accepted(by: $0) }
        guard case .channel(let id, 16_384)? = try await scene.open() else {
            Issue.record("no channel")
            return
        }
        guard case .channelOpened(id, 0x90, _, 16_384)? = scene.events.first else {
            Issue.record("the host does not know the channel")
            return
        }
        #expect(try await scene.fixture.run(.channel(id, .send(Data([1, 2])))) == [])
        #expect(scene.events.last == .channel(id, .received(Data([1, 2]))))
        // The central's credits return as the host consumes.
        scene.peripheral.role.submit(.channel(id, .consumed(2)))
        #expect(try await scene.fixture.run() == [.channel(id, .credits(2))])
        scene.peripheral.role.submit(.channel(id, .send(Data([3]))))
        #expect(try await scene.fixture.run(.channel(id, .consumed(1))) == [.channel(id, .received(Data([3])))])
        scene.peripheral.role.submit(.channel(id, .close))
        #expect(try await scene.fixture.run() == [.channel(id, .closed)])
        #expect(scene.device.channels == [])
    }

    @Test func theHostLearnsOfTheEndOfALinkOrAChannel() async throws {
        for endsLink in [false, true] {
            let scene = try await ChannelScene { .accepted(by: $0) }
            guard case .channel(let id, _)? = try await scene.open() else {
                Issue.record("no channel")
                return
            }
            if endsLink { scene.device.disconnect() } else { scene.fixture.submit(.channel(id, .close)) }
            try await scene.emulator.runUntilIdle()
            #expect(scene.events.last == .channel(id, .closed))
        }
    }

    @Test(
        arguments: [
            (.noService, .operationNotSupported), (.noResources, .outOfSpace),
        ] as [(ChannelRefusal, BackendError.Code)])
    func aChannelThatTheHostRefusesFails(_ refusal: ChannelRefusal, _ code: BackendError.Code) async throws {
        let scene = try await ChannelScene { _ in .refused(refusal) }
        guard case .failure(let error)? = try await scene.open() else {
            Issue.record("the host refuses")
            return
        }
        #expect(error.code == code)
        #expect(scene.device.channels == [])
        #expect(scene.events == [])
    }

    @Test func aHostWithoutTheFeatureAsksForNoChannel() async throws {
        let scene = try await ChannelScene { .accepted(by: $0) }
        scene.emulator.host.setSupport(.channels, false)
        guard case .failure(let error)? = try await scene.open() else {
            Issue.record("the central has no channels")
            return
        }
        #expect(error.code == .operationNotSupported)
        #expect(scene.events == [])
    }

    // MARK: Packets

    private func packets(_ tap: TapRecorder) -> [[UInt8]] {
        tap.kinds().compactMap { kind in
            if case .externalPacket(_, _, _, let payload) = kind { payload } else { nil }
        }
    }

    @Test(arguments: [LinkSide.central, .peripheral])
    func packetsArriveInOrderWithTheConnectionEvents(side: LinkSide) async throws {
        let scene = try await Scene(.default)
        let tap = TapRecorder(scene.emulator, .externalHosts)
        let start = scene.emulator.now
        let sent = (0..<40).map { [UInt8](repeating: $0, count: 200) }
        for packet in sent {
            scene.emulator.control(link: try scene.number(), .send(side, channel: 4, packet))
        }
        try await scene.emulator.advance(until: { self.packets(tap).count == 40 }, within: .seconds(10))
        #expect(packets(tap) == sent)
        // A connection event has room for a few of them.
        let interval = try #require(scene.external.connection(of: scene.link)).parameters.interval
        #expect(scene.emulator.now - start > interval * 2)
    }

    @Test func packetsWithoutAConnectionIntervalArriveAtOnce() async throws {
        let scene = try await Scene()
        let tap = TapRecorder(scene.emulator, .externalHosts)
        let start = scene.emulator.now
        for byte in UInt8(0)..<100 {
            scene.emulator.control(link: try scene.number(), .send(.central, channel: 6, [byte]))
        }
        try await scene.emulator.advance(until: { self.packets(tap).count == 100 }, within: .seconds(1))
        #expect(packets(tap) == (0..<100).map { [$0] })
        #expect(scene.emulator.now == start)
    }

    @Test func packetsWaitWhileTheLinkIsSilentAndEndWithIt() async throws {
        let scene = try await Scene(.default)
        let tap = TapRecorder(scene.emulator, .externalHosts)
        scene.device.setProximity(.outOfRange)
        scene.emulator.control(link: try scene.number(), .send(.central, channel: 4, [1]))
        try await scene.emulator.advance(by: .seconds(1))
        #expect(packets(tap) == [])
        scene.device.setProximity(.near)
        try await scene.emulator.advance(until: { self.packets(tap) == [[1]] }, within: .seconds(1))
        scene.device.setProximity(.outOfRange)
        scene.emulator.control(link: try scene.number(), .send(.central, channel: 4, [2]))
        try await scene.fixture.wait {
            if case .disconnected(scene.link, .timeout, _, _, _) = $0 { true } else { false }
        }
        scene.device.setProximity(.near)
        try await scene.emulator.advance(by: .seconds(1))
        #expect(packets(tap) == [[1]])
    }

    @Test func packetsBeyondTheLimitAreDropped() async throws {
        let scene = try await Scene(.default)
        let tap = TapRecorder(scene.emulator, .externalHosts)
        scene.device.setProximity(.outOfRange)
        for _ in 0..<ExternalPackets.limit + 10 {
            scene.emulator.control(link: try scene.number(), .send(.central, channel: 4, [1]))
        }
        scene.device.setProximity(.near)
        try await scene.emulator.advance(by: .seconds(10))
        #expect(packets(tap).count == ExternalPackets.limit)
    }
}
