#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Glibc
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// Stores the events of a peripheral manager.
private final class PeripheralRecorder: EventSink {
    let label = "recorder"
    let events = Recorder<PeripheralEvent>()

    func deliver(_ event: PeripheralEvent) { events.append(event) }
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }

    func wait(for event: PeripheralEvent) async throws { try await events.first { $0 == event } }
}

/// The peripheral role as a whole, on a private bus, against a scripted `org.bluez` that calls back through GDBus.
@Suite struct PeripheralRoleTests {
    private let bus: PrivateBus
    private let daemon: ScriptedBlueZ
    private let scripted: ScriptedPeripherals
    private let recorder = PeripheralRecorder()
    private let peripheral: any PeripheralBackend
    private let device = ScriptedBlueZ.path(of: "F0:F1:F2:F3:F4:01")
    private let added = OperationID(rawValue: 1)

    init() throws {
        bus = try PrivateBus()
        daemon = try ScriptedBlueZ(on: bus)
        scripted = ScriptedPeripherals(of: daemon)
        guard case .explicit(let text) = bus.address else { throw CancellationError() }
        var timings = PeripheralTimings()
        timings.quiescence = .milliseconds(20)
        let backend = BlueZBackend(
            BlueZConfiguration(busAddress: text), timings: BlueZTimings(), peripheralTimings: timings)
        peripheral = backend.makePeripheral(RoleOptions())
    }

    /// Powers on, publishes the service of ``PeripheralRoleFixture``, and connects a central.
    private func serve(isUnicast: Bool = false) async throws {
        if isUnicast {
            daemon.service.set(ScriptedBlueZ.adapter, "org.bluez.Adapter1", ["Connectable": .boolean(true)])
        }
        peripheral.activate(recorder)
        try await recorder.wait(for: .stateChanged(.poweredOn))
        try await publish()
        daemon.addDevice("F0:F1:F2:F3:F4:01", properties: ["Connected": .boolean(true)])
    }

    private func publish() async throws {
        peripheral.submit(.addService(operation: added, service: PeripheralRoleFixture.service()))
        try await recorder.wait(for: .serviceAdded(operation: added))
    }

    private func path(_ uuid: String) throws -> String { try #require(scripted.path(of: uuid)) }

    private var options: DBusValue { ScriptedPeripherals.options(device) }

    private func update(_ attribute: UInt32, _ value: [UInt8], _ central: PeerID) {
        peripheral.submit(
            .updateValue(attribute: AttributeID(rawValue: attribute), value: Data(value), centrals: [central]))
    }

    /// Subscribes the central to the notifying characteristic.
    ///
    /// - Returns: The central, and the daemon's answer.
    private func subscribe() async throws -> (central: PeerID, answer: [DBusValue]) {
        let answer = try await scripted.call(path("1003"), "AcquireNotify", [options])
        let event = try await recorder.events.first { if case .subscribed = $0 { true } else { false } }
        guard case .subscribed(let central, _, 185, CreditLedger.limit) = event else {
            throw CancellationError()
        }
        return (central, answer)
    }

    // MARK: Services

    @Test func theDaemonSeesServicesCharacteristicsAndDescriptors() async throws {
        try await serve()
        let application = try #require(scripted.applications.elements.first)
        #expect(application.objects.count == 7)
        let readable = try #require(application.objects[path("1001")]?["org.bluez.GattCharacteristic1"])
        #expect(readable["Flags"] == .strings(["read", "write"]))
        let parent = try #require(readable["Service"]?.pathValue)
        #expect(application.objects[parent.text]?["org.bluez.GattService1"]?["Primary"] == .boolean(true))
        let description = try await scripted.call(path("2901"), "ReadValue", [options], on: "GattDescriptor1")
        #expect(description == [.bytes(Array("text".utf8))])
    }

    @Test func aReadAndAWriteWaitForTheirAnswers() async throws {
        try await serve()
        async let read = scripted.call(path("1001"), "ReadValue", [options])
        let asked = try await recorder.events.first { if case .readRequested = $0 { true } else { false } }
        guard case .readRequested(let request, let central, _, 0, 185) = asked else { throw CancellationError() }
        peripheral.submit(.respond(request: request, attCode: 0, value: Data([1, 2, 3])))
        let value = try await read
        #expect(value == [.bytes([1, 2, 3])])

        async let write = scripted.call(path("1001"), "WriteValue", [.bytes([9]), options])
        let event = try await recorder.events.first { if case .writeRequested = $0 { true } else { false } }
        guard case .writeRequested(let second, central, 185, true, _) = event else { throw CancellationError() }
        peripheral.submit(.respond(request: second, attCode: 0x85, value: nil))
        do {
            _ = try await write
            Issue.record("not refused")
        } catch {
            #expect(error as? DBusError == DBusError(name: "org.bluez.Error.Failed", message: "0x85"))
        }
    }

    @Test func aStrangerReadsNothing() async throws {
        try await serve()
        let stranger = try ScriptedService(on: bus)
        let owner = try #require(scripted.applications.elements.first).owner
        let error = await #expect(throws: DBusError.self) {
            _ = try await stranger.call(
                owner, path("1002"), "org.bluez.GattCharacteristic1", "ReadValue", [options])
        }
        #expect(error?.name == DBusError.Name.accessDenied)
        #expect(
            try await scripted.call(path("1002"), "ReadValue", [options]) == [.bytes(Array("static".utf8))])
    }

    @Test func aManagerThatGoesUnregisters() async throws {
        try await serve()
        peripheral.invalidate()
        let root = try #require(scripted.applications.elements.first).root
        try await scripted.unregistered.first { $0 == root }
    }

    @Test func afterARestartOfTheDaemonServicesArePublishedAnew() async throws {
        try await serve()
        daemon.kill()
        try await recorder.wait(for: .stateChanged(.resetting))
        recorder.events.removeAll()
        try daemon.start()
        try await recorder.wait(for: .stateChanged(.poweredOn))
        try await publish()
        #expect(scripted.applications.elements.count == 2)
        #expect(
            try await scripted.call(path("1002"), "ReadValue", [options]) == [.bytes(Array("static".utf8))])
    }

    // MARK: Subscriptions

    @Test func aBroadcastValueIsASignalToTheDaemon() async throws {
        try await serve()
        let refusal = await #expect(throws: DBusError.self) {
            _ = try await scripted.call(path("1003"), "AcquireNotify", [options])
        }
        #expect(refusal?.name == "org.bluez.Error.NotSupported")
        _ = try await scripted.call(path("1003"), "StartNotify")
        let event = try await recorder.events.first { if case .subscribed = $0 { true } else { false } }
        guard case .subscribed(let central, let attribute, _, _) = event else { throw CancellationError() }
        for byte in [7, 7] as [UInt8] { update(attribute.rawValue, [byte], central) }
        let signals = try await daemon.service.signals.wait { $0.count { $0.member == "PropertiesChanged" } >= 2 }
        let changes = signals.filter { $0.member == "PropertiesChanged" }
        #expect(try changes.allSatisfy { $0.path == (try path("1003")) })
        #expect(changes.allSatisfy { $0.body[1] == .properties(["Value": .bytes([7])]) })
        try await recorder.events.wait { events in
            events.reduce(0) { sum, event in
                if case .notifyCredits(central, let count) = event { sum + count } else { sum }
            } == 2
        }
        _ = try await scripted.call(path("1003"), "StopNotify")
        try await recorder.wait(for: .unsubscribed(central: central, attribute: attribute))
    }

    @Test func aSocketTakesWhatTheDaemonReadsAndNoMore() async throws {
        try await serve(isUnicast: true)
        let (central, answer) = try await subscribe()
        let socket = try #require(answer.first?.descriptorValue)
        #expect(answer.last == .uint16(185))
        // More than the socket holds: accepted packets return their credits, and the rest waits.
        let count = 5000
        for number in 0..<count {
            update(4, Array(repeating: UInt8(truncatingIfNeeded: number), count: 180), central)
        }
        @Sendable func credits(_ events: [PeripheralEvent]) -> Int {
            events.reduce(0) { sum, event in
                if case .notifyCredits(central, let count) = event { sum + count } else { sum }
            }
        }
        try await recorder.events.wait { credits($0) > 0 }
        var received: [UInt8] = []
        var packet = [UInt8](repeating: 0, count: 512)
        while received.count < count {
            var event = pollfd(fd: socket.rawValue, events: CShort(POLLIN), revents: 0)
            try #require(poll(&event, 1, 20_000) == 1)
            try #require(recv(socket.rawValue, &packet, packet.count, 0) == 180)
            received.append(packet[0])
        }
        #expect(received == (0..<count).map { UInt8(truncatingIfNeeded: $0) })
        try await recorder.events.wait { credits($0) == count }
    }

    @Test func aConfirmationIsTakenAndTheEndOfTheSocketIsTheEndOfTheSubscription() async throws {
        try await serve(isUnicast: true)
        let (central, answer) = try await subscribe()
        let socket = try #require(answer.first?.descriptorValue)
        #expect(send(socket.rawValue, [1], 1, 0) == 1)
        update(4, [5], central)
        var packet: [UInt8] = [0]
        var event = pollfd(fd: socket.rawValue, events: CShort(POLLIN), revents: 0)
        try #require(poll(&event, 1, 20_000) == 1)
        #expect(recv(socket.rawValue, &packet, 1, 0) == 1)
        #expect(packet == [5])
        #expect(close(try #require(socket.release())) == 0)
        // GDBus holds a separate descriptor in the answer until the answer is released.
        try await recorder.wait(for: .unsubscribed(central: central, attribute: AttributeID(rawValue: 4)))
    }

    // MARK: Advertising

    @Test func anAdvertisementIsReadByTheDaemonShortenedAndReleased() async throws {
        peripheral.activate(recorder)
        try await recorder.wait(for: .stateChanged(.poweredOn))
        let uuids = (0..<14).map { BluetoothUUID(UInt16(0x1800 + $0)) }
        let operation = OperationID(rawValue: 2)
        peripheral.submit(
            .startAdvertising(
                operation: operation, advertisement: Advertisement(localName: "Served", serviceUUIDs: uuids)))
        try await recorder.wait(for: .advertisingStarted(operation: operation))
        let advertisement = try #require(scripted.advertisements.elements.first)
        #expect(advertisement.properties["LocalName"] == .string("Served"))
        #expect(advertisement.properties["ServiceUUIDs"]?.stringsValue?.count == 13)
        #expect(try await scripted.call(advertisement.path, "Release", on: "LEAdvertisement1") == [])
        try await recorder.wait(for: .advertisingEnded)
    }
}
#endif
