import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Testing

/// Handlers that answer from outside the world.
@Suite struct AsynchronousHandlerTests {
    private struct Refusal: Error, Equatable { let number: Int }

    /// A handler that records its requests and events, and answers as the test asks.
    private final class Scripted: AsynchronousPeripheralHandler {
        struct Answers {
            var connection = ConnectionResponse.accepted
            var procedures: [PeripheralProcedure.Kind: ProcedureResponse] = [:]
            var request = PeripheralResponse.stored
        }

        let answers = Lock(Answers())
        let heard = Lock<[String]>([])
        let procedures = Lock<[PeripheralProcedure]>([])

        private func add(_ text: String) { heard.withLock { $0.append(text) } }

        func respond(to request: ConnectionRequest) async -> ConnectionResponse {
            add("\(request.central.host) connects")
            return answers.withLock { $0.connection }
        }

        func respond(to procedure: PeripheralProcedure) async -> ProcedureResponse {
            add("\(procedure.kind)")
            procedures.withLock { $0.append(procedure) }
            return answers.withLock { $0.procedures[procedure.kind] } ?? .granted
        }

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            add(request.writtenValue == nil ? "read" : "write")
            return answers.withLock { $0.request }
        }

        func handle(_ event: DeviceEvent) async {
            switch event {
            case .connected: add("connected")
            case .disconnected: add("disconnected")
            case .subscribed: add("subscribed")
            case .unsubscribed: add("unsubscribed")
            case .parameterChanged(let parameter, let value): add("\(parameter.rawValue) \(value)")
            default: add("other")
            }
        }
    }

    private static let description = PeripheralDescription(
        name: "Asked", advertising: [AdvertisingDescription(AdvertisingData(localName: "Asked"))],
        services: [
            ServiceDescription(
                "180F",
                characteristics: [
                    .init(
                        "2A19", [.read, .write, .writeWithoutResponse, .notify], value: Data([1]),
                        descriptors: [.init("2901", value: Data("level".utf8))])
                ])
        ])

    private func scene(_ handler: some AsynchronousPeripheralHandler) async throws -> (Fixture, EmulatedDevice) {
        let fixture = Fixture()
        let device = try fixture.emulator.add(EmulatedPeripheral(Self.description, handler: handler))
        try await fixture.powerOn()
        return (fixture, device)
    }

    // MARK: The order

    @Test func aHandlerIsAskedAndNotifiedInTheOrderOfTheAir() async throws {
        let handler = Scripted()
        let (fixture, device) = try await scene(handler)
        let link = try await fixture.connect(device)
        let found = try await fixture.attributes(link)
        let level = try found.characteristic("2A19")
        _ = try await fixture.run(
            .request(link: link, operation: op(1), .setNotifying(level, true)),
            .request(link: link, operation: op(2), .read(level)),
            .request(link: link, operation: op(3), .write(level, Data([2]))),
            .writeCommand(link: link, attribute: level, value: Data([3])),
            .request(link: link, operation: op(4), .setNotifying(level, false)))
        device.set("mood", to: 4)
        device.disconnect()
        try await fixture.emulator.runUntilIdle()
        #expect(
            handler.heard.withLock { $0 } == [
                "default connects", "connected", "discoverServices", "discoverCharacteristics", "subscribe",
                "subscribed", "read", "write", "write", "unsubscribe", "unsubscribed", "mood 4.0", "disconnected",
            ])
        #expect(device.value(of: "2A19") == Data([3]))
    }

    @Test func aProcedureSaysWhatItIsAboutAndWhatTheAppLooksFor() async throws {
        let handler = Scripted()
        let (fixture, device) = try await scene(handler)
        let link = try await fixture.connect(device)
        let found = try await fixture.attributes(link)
        let (service, level) = (try found.service("180F"), try found.characteristic("2A19"))
        handler.procedures.withLock { $0 = [] }
        _ = try await fixture.run(
            .request(link: link, operation: op(1), .discoverServices(["180F", "1805"])),
            .request(link: link, operation: op(2), .discoverCharacteristics(of: service, ["2A19"])),
            .request(link: link, operation: op(3), .discoverDescriptors(of: level)))
        let procedures = handler.procedures.withLock { $0 }
        #expect(procedures.map(\.types) == [["180F", "1805"], ["2A19"], nil])
        #expect(procedures.map(\.attribute) == [nil, service, level])
        #expect(procedures.map(\.uuid) == [nil, "180F", "2A19"])
        #expect(
            procedures.map(\.position) == [
                nil, AttributePosition(service: 0), AttributePosition(service: 0, characteristic: 0),
            ])
    }

    // MARK: Connecting

    @Test func aRefusedConnectFails() async throws {
        let handler = Scripted()
        handler.answers.withLock { $0.connection = .refused }
        let (fixture, device) = try await scene(handler)
        let peer = try await fixture.find(device)
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1))
        let events = fixture.events
        guard case .connectFailed(peer, op(1), let error)? = events.last else { throw Unexpected("\(events)") }
        #expect(error.code == .connectionFailed && error.original == nil)
        #expect(device.connectionCount == 0)
    }

    @Test func anErrorOfTheHandlerIsCarriedToEachCallback() async throws {
        let handler = Scripted()
        let (fixture, device) = try await scene(handler)
        let errors = (0..<6).map { OpaqueError(Refusal(number: $0)) }
        handler.answers.withLock { $0.connection = .failure(errors[0]) }
        let peer = try await fixture.find(device)
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1))
        let events = fixture.events
        guard case .connectFailed(_, _, let error)? = events.last else { throw Unexpected("\(events)") }
        #expect(error.original?.error as? Refusal == Refusal(number: 0))

        handler.answers.withLock { $0.connection = .accepted }
        let link = try await fixture.connect(device)
        let level = try await fixture.attributes(link).characteristic("2A19")
        handler.answers.withLock {
            $0.procedures = [.subscribe: .failure(errors[1]), .discoverServices: .failure(errors[2])]
            $0.request = .failure(errors[3])
        }
        let answers = try await fixture.run(
            .request(link: link, operation: op(1), .setNotifying(level, true)),
            .request(link: link, operation: op(2), .discoverServices(nil)),
            .request(link: link, operation: op(3), .read(level)),
            .request(link: link, operation: op(4), .write(level, Data([9]))))
        let carried = answers.map { event -> OpaqueError? in
            guard case .response(_, _, .failure(let error)) = event, error.attCode == 0x0E else { return nil }
            return error.original
        }
        #expect(carried == [errors[1], errors[2], errors[3], errors[3]])

        device.disconnect(with: errors[5])
        try await fixture.emulator.runUntilIdle()
        guard case .disconnected(link, .remote, _, _, let last)? = fixture.events.last else {
            throw Unexpected("\(fixture.events)")
        }
        #expect(last == errors[5])
    }

    @Test func aConnectThatIsCancelledWhileTheHandlerThinksLeadsToNoLink() async throws {
        let fixture = Fixture()
        let handler = Slow(clock: fixture.emulator.swiftClock)
        let device = try fixture.emulator.add(EmulatedPeripheral(Self.description, handler: handler))
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(2))
        fixture.submit(.disconnect(peer: peer))
        let count = fixture.events.count
        try await fixture.emulator.advance(by: .seconds(20))
        #expect(device.connectionCount == 0)
        #expect(fixture.events(from: count).allSatisfy { $0.kind != .connected })
        fixture.submit(.connect(peer: peer, operation: op(2), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(20))
        #expect(device.connectionCount == 1)
    }

    // MARK: Time

    /// A handler that takes five seconds for each connect and each read.
    private final class Slow: AsynchronousPeripheralHandler {
        let clock: Lock<EmulatorClock>
        let reads = Lock<[Duration]>([])

        init(clock: EmulatorClock) { self.clock = Lock(clock) }

        func respond(to request: ConnectionRequest) async -> ConnectionResponse {
            await pause()
            return .accepted
        }

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            reads.withLock { $0.append(clock.withLock { $0.now.offset }) }
            await pause()
            return .stored
        }

        private func pause() async {
            do { try await clock.withLock { $0 }.sleep(for: .seconds(5)) } catch { Issue.record(error) }
        }
    }

    @Test func oneCallOfADeviceIsMadeAfterTheOtherThoughCentralsAskAtTheSameTime() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        try emulator.add(HostDescription(name: "other"))
        var description = Self.description
        description.advertising[0].continuesWhileConnected = true
        let handler = Slow(clock: emulator.swiftClock)
        let device = try emulator.add(EmulatedPeripheral(description, handler: handler))
        let (one, two) = (Fixture(emulator: emulator), Fixture(host: "other", emulator: emulator))
        var links: [LinkID] = []
        for (fixture, host) in [(one, "default"), (two, "other")] {
            try await fixture.powerOn()
            let peer = try await fixture.find(device, host: host)
            fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
            try await fixture.wait { $0.kind == .connected }
            links.append(try #require(fixture.lastLink))
        }
        let level = try await one.attributes(links[0]).characteristic("2A19")
        let start = emulator.now
        one.submit(.request(link: links[0], operation: op(2), .read(level)))
        two.submit(.request(link: links[1], operation: op(2), .read(level)))
        try await emulator.runUntilIdle()
        #expect(handler.reads.withLock { $0 } == [start, start + .seconds(5)])
        #expect(emulator.now == start + .seconds(10))
    }

    /// A handler that controls its device while it answers.
    private final class Acting: AsynchronousPeripheralHandler {
        let device = Lock<EmulatedDevice?>(nil)

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            let device = device.withLock { $0 }
            device?.notify(at: AttributePosition(service: 0, characteristic: 0), value: Data([8]))
            return .value(Data([UInt8(device?.subscriberCount(of: "2A19") ?? 0)]))
        }

        func handle(_ event: DeviceEvent) async {
            if case .unsubscribed = event { device.withLock { $0 }?.disconnect() }
        }
    }

    @Test func aHandlerMayCallEveryControl() async throws {
        let handler = Acting()
        let (fixture, device) = try await scene(handler)
        handler.device.withLock { $0 = device }
        let link = try await fixture.connect(device)
        let level = try await fixture.attributes(link).characteristic("2A19")
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .setNotifying(level, true)),
            .request(link: link, operation: op(2), .read(level)))
        #expect(events.contains(.valueNotified(link: link, attribute: level, value: Data([8]))))
        #expect(events.contains(.response(link: link, operation: op(2), .value(Data([1])))))
        _ = try await fixture.run(.request(link: link, operation: op(3), .setNotifying(level, false)))
        #expect(fixture.events.last?.kind == .disconnected)
    }

    /// A handler whose event functions never return.
    private struct Stuck: AsynchronousPeripheralHandler {
        let clock: EmulatorClock

        func handle(_ event: DeviceEvent) async {
            do { try await clock.sleep(for: .seconds(1_000_000)) } catch { Issue.record(error) }
        }
    }

    @Test func aStuckHandlersWriteCommandsAreDroppedAtTheLimit() async throws {
        let fixture = Fixture()
        let handler = Stuck(clock: fixture.emulator.swiftClock)
        let device = try fixture.emulator.add(EmulatedPeripheral(Self.description, handler: handler))
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.wait { $0.kind == .connected }
        let link = try #require(fixture.lastLink)
        // The first characteristic after 1800 and 1801, whose number the app would know from a discovery.
        let level = try #require(device.attribute(at: AttributePosition(service: 0, characteristic: 0)))
        for _ in 0..<1_010 {
            for _ in 0..<10 { fixture.submit(.writeCommand(link: link, attribute: level, value: Data([1]))) }
            try await fixture.emulator.advance(by: .milliseconds(1))
        }
        #expect(fixture.emulator.trace.contains { $0.text.contains("10000 calls of the device's handler wait") })
    }

    // MARK: Handlers inside of the world

    private struct Choosy: EmulatedPeripheralHandler {
        func respond(
            to request: ConnectionRequest, state: inout Void, device: inout DeviceActions
        ) -> ConnectionResponse {
            device.log("\(request.central.host) knocks")
            return request.central.host == "default" ? .refused : .accepted
        }
    }

    @Test func aHandlerInsideOfTheWorldRefusesACentralToo() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        try emulator.add(HostDescription(name: "friend"))
        let device = try emulator.add(EmulatedPeripheral(Self.description, handler: Choosy()))
        let (one, two) = (Fixture(emulator: emulator), Fixture(host: "friend", emulator: emulator))
        for (fixture, host) in [(one, "default"), (two, "friend")] {
            try await fixture.powerOn()
            let peer = try await fixture.find(device, host: host)
            fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
            try await emulator.advance(by: .seconds(5))
        }
        #expect(one.events.last?.kind == .connectFailed)
        #expect(two.events.contains { $0.kind == .connected })
        #expect(emulator.trace.contains { $0.text == "default knocks" })
    }

    // MARK: Snapshots

    @Test func aRestoredWorldAsksAgainAboutAConnect() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let handler = Slow(clock: emulator.swiftClock)
        let device = try emulator.add(EmulatedPeripheral(Self.description, handler: handler))
        emulator.host.connectOtherApp(to: device)
        try await emulator.advance(by: .seconds(2))
        #expect(device.connectionCount == 0)
        let restored = Emulator(restoring: try emulator.snapshot())
        handler.clock.withLock { $0 = restored.swiftClock }
        try await restored.advance(by: .seconds(6))
        #expect(restored.devices[0].connectionCount == 1)
        #expect(device.connectionCount == 0)
    }
}
