#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import Dispatch
import FoundationEssentials
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// A receiver with a queue, whose callback waits for one of the values.
private final class WaitingReceiver: EventSink {
    let label = "waiting"
    let events = Recorder<CentralEvent>()
    /// The value whose callback waits.
    static let awaited = Data([200])
    let mayGoOn = DispatchSemaphore(value: 0)
    private let queue = DispatchQueue(label: "WaitingReceiver")

    func deliver(_ event: CentralEvent) { append(event)?.start() }

    func append(_ event: CentralEvent) -> (any PendingDelivery)? { Delivery(receiver: self, event: event) }

    private struct Delivery: PendingDelivery {
        let receiver: WaitingReceiver
        let event: CentralEvent

        func start() { receiver.queue.async { receiver.handle(event) } }
        func run() { receiver.queue.sync { receiver.handle(event) } }
    }

    private func handle(_ event: CentralEvent) {
        events.append(event)
        if case .valueNotified(_, _, Self.awaited) = event { mayGoOn.wait() }
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

/// The backend as a whole, on a private bus, against a scripted `org.bluez`.
@Suite struct BlueZBackendTests {
    private let fixture: BackendFixture
    private let bus: PrivateBus
    private let recorder: EventRecorder
    private let device: String
    private let characteristic: String

    init() throws {
        fixture = try BackendFixture()
        (bus, recorder) = (fixture.bus, fixture.recorder)
        (device, characteristic) = (fixture.device, fixture.characteristic)
    }

    // MARK: State

    @Test func withoutABusItIsUnsupported() async throws {
        let backend = BlueZBackend(BlueZConfiguration(busAddress: "unix:path=/nonexistent"))
        let central = backend.makeCentral(RoleOptions())
        central.activate(recorder)
        try await recorder.wait(for: .unsupported)
        central.invalidate()
    }

    @Test func whatTheControllerCanDoIsSupported() async throws {
        guard case .explicit(let text) = bus.address else { return }
        func backend(_ controllers: FakeController) -> BlueZBackend {
            BlueZBackend(BlueZConfiguration(busAddress: text), timings: BlueZTimings(), controllers: controllers)
        }
        let refused = backend(FakeController(error: BackendError(.operationNotSupported, operation: "socket")))
        #expect(!refused.supports(.connectedRSSI))
        let backend = backend(FakeController())
        #expect(backend.supports(.connectedRSSI))
        #expect(!backend.supports(.extendedScanAndConnect))
        let daemon = try ScriptedBlueZ(on: bus)
        daemon.service.add(
            ScriptedBlueZ.adapter,
            ["org.bluez.LEAdvertisingManager1": ["SupportedSecondaryChannels": .strings(["1M", "2M", "Coded"])]])
        let central = try fixture.central(of: backend)
        try await recorder.wait(for: .poweredOn)
        #expect(backend.supports(.extendedScanAndConnect))
        withExtendedLifetime((daemon, central)) {}
    }

    @Test func withoutADaemonItIsUnsupportedAndALaterDaemonIsUsed() async throws {
        let central = try fixture.central()
        try await recorder.wait(for: .unsupported)
        let daemon = try ScriptedBlueZ(on: bus)
        try await recorder.wait(for: .poweredOn)
        withExtendedLifetime((central, daemon)) {}
    }

    @Test func aDaemonThatNeverComesUpIsUnsupported() async throws {
        let bus = try PrivateBus(activatable: ["org.bluez": "/bin/sleep 60"])
        guard case .explicit(let text) = bus.address else { return }
        var timings = BlueZTimings()
        timings.activation = .milliseconds(50)
        let backend = BlueZBackend(BlueZConfiguration(busAddress: text), timings: timings)
        let central = backend.makeCentral(RoleOptions())
        central.activate(recorder)
        try await recorder.wait(for: .unsupported)
        central.invalidate()
    }

    @Test func withoutAnAdapterItIsUnsupportedAndALaterAdapterIsUsed() async throws {
        let daemon = try ScriptedBlueZ(on: bus)
        daemon.service.remove(ScriptedBlueZ.adapter)
        let central = try fixture.central()
        try await recorder.wait(for: .unsupported)
        daemon.addAdapter()
        try await recorder.wait(for: .poweredOn)
        withExtendedLifetime(central) {}
    }

    /// See https://github.com/home-assistant/core/issues/76392.
    @Test func aBusPolicyThatRefusesIsUnauthorized() async throws {
        let fixture = try BackendFixture(on: PrivateBus(forbidden: ["org.bluez"]))
        let daemon = try ScriptedBlueZ(on: fixture.bus)
        let central = try fixture.central()
        try await fixture.recorder.wait(for: .unauthorized)
        #expect(fixture.recorder.events.elements.contains(.authorizationChanged(.denied)))
        withExtendedLifetime((daemon, central)) {}
    }

    @Test func powerIsFollowed() async throws {
        let daemon = try ScriptedBlueZ(on: bus, isPowered: false)
        let central = try fixture.central()
        try await recorder.wait(for: .poweredOff)
        daemon.setPowered(true)
        try await recorder.wait(for: .poweredOn)
        withExtendedLifetime(central) {}
    }

    @Test func aKilledDaemonIsResettingAndComesBack() async throws {
        let (daemon, central, _, _) = try await fixture.connected()
        daemon.kill()
        try await recorder.wait(for: .resetting)
        try daemon.start()
        try await recorder.wait(for: .poweredOn)
        #expect(recorder.states() == [.poweredOn, .resetting, .poweredOn])
        let ends = recorder.events.elements.filter { if case .disconnected = $0 { true } else { false } }
        #expect(ends.isEmpty)
        // The new daemon is called, by its own name.
        daemon.service.calls.removeAll()
        central.submit(.startScan(ScanParameters()))
        try await daemon.service.calls.first { $0.member == "StartDiscovery" }
    }

    @Test func aLostBusIsResetting() async throws {
        let daemon = try ScriptedBlueZ(on: bus)
        let central = try fixture.central()
        try await recorder.wait(for: .poweredOn)
        bus.kill()
        try await recorder.wait(for: .resetting)
        withExtendedLifetime((central, daemon)) {}
    }

    @Test func S12_powerOffCallsNoDisconnect() async throws {
        // On a crowded machine the two signals may be far apart.
        let (daemon, central, _, _) = try await fixture.connected(of: fixture.makeBackend(powerLoss: .seconds(60)))
        daemon.setPowered(false)
        try await recorder.wait(for: .poweredOff)
        #expect(!recorder.events.elements.contains { if case .disconnected = $0 { true } else { false } })
        withExtendedLifetime(central) {}
    }

    // MARK: The main job

    @Test func aDeviceIsFoundConnectedReadWrittenSubscribedAndLeft() async throws {
        let (daemon, central, peer, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        central.submit(.request(link: link, operation: OperationID(rawValue: 10), .read(attribute)))
        central.submit(
            .request(link: link, operation: OperationID(rawValue: 11), .write(attribute, Data([9]))))
        central.submit(.writeCommand(link: link, attribute: attribute, value: Data([8, 8])))
        central.submit(
            .request(link: link, operation: OperationID(rawValue: 12), .setNotifying(attribute, true)))
        try await recorder.events.first {
            $0 == .response(link: link, operation: OperationID(rawValue: 12), .notifying(true))
        }
        for byte in UInt8(0)..<50 { daemon.notify(characteristic, [byte]) }
        let last = CentralEvent.valueNotified(link: link, attribute: attribute, value: Data([49]))
        try await recorder.events.first { $0 == last }
        central.submit(.disconnect(peer: peer))
        let events = try await recorder.events.wait { events in
            events.contains { if case .disconnected = $0 { true } else { false } }
        }
        let start = try #require(events.firstIndex { if case .response(_, _, .value) = $0 { true } else { false } })
        #expect(events[start] == .response(link: link, operation: OperationID(rawValue: 10), .value(Data([1, 2, 3]))))
        #expect(events[start + 1] == .response(link: link, operation: OperationID(rawValue: 11), .written))
        #expect(events[start + 2] == .writeCredits(link: link, count: 1))
        #expect(
            Array(events[(start + 4)..<(start + 54)])
                == (0..<50).map { .valueNotified(link: link, attribute: attribute, value: Data([UInt8($0)])) })
        #expect(daemon.value(at: characteristic) == [8, 8])
        #expect(events.contains(.mtuChanged(link: link, mtu: 247)) || events.contains { Self.mtu($0) == 247 })
        try await daemon.service.calls.first { $0.member == "Disconnect" }
        #expect(daemon.service.calls.elements.contains { $0.member == "StopNotify" })
    }

    @Test func S87_notificationsComeOverTheSocketThatTheAppChose() async throws {
        let backend = fixture.makeBackend(notificationMethod: .acquireNotify)
        let (daemon, central, _, link) = try await fixture.connected(of: backend)
        let attribute = try await fixture.attribute(central, link)
        func setNotifying(_ isNotifying: Bool, _ number: UInt64) async throws {
            let operation = OperationID(rawValue: number)
            central.submit(.request(link: link, operation: operation, .setNotifying(attribute, isNotifying)))
            try await recorder.events.first {
                $0 == .response(link: link, operation: operation, .notifying(isNotifying))
            }
        }
        try await setNotifying(true, 12)
        // Unsubscribed and subscribed again, before the daemon may have noticed.
        try await setNotifying(false, 13)
        try await setNotifying(true, 14)
        for byte in UInt8(0)..<50 { daemon.notify(characteristic, [byte]) }
        daemon.dropLink(fixture.device, reason: "Remote")
        let events = try await recorder.events.wait { events in
            events.contains { if case .disconnected = $0 { true } else { false } }
        }
        let values = events.compactMap { if case .valueNotified(_, _, let value) = $0 { value } else { nil } }
        #expect(values == (0..<50).map { Data([UInt8($0)]) }, "all of them before the disconnection")
        #expect(!daemon.service.calls.elements.contains { ["StartNotify", "StopNotify"].contains($0.member) })
    }

    /// Tests a receiver whose callback waits for an event of another one, while the thread that reads the bus may run
    /// it.
    @Test func aCallbackThatWaitsHoldsUpNoOtherReceiver() async throws {
        let backend = fixture.makeBackend()
        let (daemon, other, peer, link) = try await fixture.connected(of: backend)
        let attribute = try await fixture.attribute(other, link)
        let waiting = WaitingReceiver()
        let central = backend.makeCentral(RoleOptions())
        central.activate(waiting)
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        let event = try await waiting.events.first { if case .connected = $0 { true } else { false } }
        guard case .connected(_, let shared, _, _) = event else { throw CancellationError() }
        let mine = try await fixture.attribute(central, shared, events: waiting.events)
        let operation = OperationID(rawValue: 12)
        central.submit(.request(link: shared, operation: operation, .setNotifying(mine, true)))
        try await waiting.events.first {
            $0 == .response(link: shared, operation: operation, .notifying(true))
        }
        daemon.notify(characteristic, Array(WaitingReceiver.awaited))
        try await waiting.events.first {
            $0 == .valueNotified(link: shared, attribute: mine, value: WaitingReceiver.awaited)
        }
        other.submit(.request(link: link, operation: OperationID(rawValue: 20), .read(attribute)))
        try await recorder.events.first { if case .response(_, _, .value) = $0 { true } else { false } }
        waiting.mayGoOn.signal()
        central.invalidate()
        withExtendedLifetime(daemon) {}
    }

    private static func mtu(_ event: CentralEvent) -> Int? {
        if case .connected(_, _, _, let parameters) = event { parameters.mtu } else { nil }
    }

    @Test func aLinkThatThePeerEndsIsReportedWithItsReason() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        daemon.dropLink(device, reason: "Remote")
        let event = try await recorder.events.first { if case .disconnected = $0 { true } else { false } }
        guard case .disconnected(link, .remote, _, false, _) = event else {
            Issue.record("\(event)")
            return
        }
        withExtendedLifetime(central) {}
    }

    @Test func aConnectIsTriedAgainUntilItSucceeds() async throws {
        let (daemon, central, peer) = try await fixture.discovered()
        let attempts = Recorder<Void>()
        let (service, device) = (daemon.service, device)
        daemon.service.on(ScriptedBlueZ.Interface.device, "Connect") { call in
            attempts.append(())
            guard attempts.elements.count > 3 else {
                return .error(DBusError(name: "org.bluez.Error.Failed", message: "le-connection-abort-by-local"))
            }
            service.set(device, ScriptedBlueZ.Interface.device, ["Connected": .boolean(true)])
            return .values([])
        }
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        try await recorder.events.first { if case .connected = $0 { true } else { false } }
        #expect(attempts.elements.count == 4)
    }

    @Test func aDeviceThatVanishedIsLookedForAndConnected() async throws {
        let (daemon, central, peer) = try await fixture.discovered()
        central.submit(.stopScan)
        try await daemon.service.calls.first { $0.member == "StopDiscovery" }
        daemon.service.remove(device)
        daemon.service.calls.removeAll()
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        try await daemon.service.calls.first { $0.member == "StartDiscovery" }
        daemon.addDevice(BackendFixture.address, name: "Heart")
        try await recorder.events.first { if case .connected = $0 { true } else { false } }
    }

    @Test func aDeviceThatAnotherProgramLeavesIsFoundByItsName() async throws {
        let (daemon, first, _, _) = try await fixture.connected()
        let other = try BackendFixture(on: fixture.bus)
        let second = try other.central()
        try await other.recorder.wait(for: .poweredOn)
        daemon.dropLink(device)
        daemon.service.calls.removeAll()
        second.submit(.startScan(ScanParameters()))
        try await daemon.service.calls.first { $0.member == "StartDiscovery" }
        daemon.advertise(device, rssi: -40)
        let event = try await other.recorder.events.first { if case .discovered = $0 { true } else { false } }
        guard case .discovered(let discovery) = event else { return }
        #expect(discovery.advertisement.localName == "Heart")
        withExtendedLifetime((first, second)) {}
    }

    @Test func servicesThatComeAndGoAreReported() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        _ = try await fixture.attribute(central, link)
        let added = daemon.addService(device, handle: "0040", uuid: "0000180f-0000-1000-8000-00805f9b34fb")
        var event = try await recorder.events.first { if case .servicesChanged = $0 { true } else { false } }
        guard case .servicesChanged(link, [], let records) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(records.map(\.uuid.text) == ["180F"])
        recorder.events.removeAll()
        daemon.service.remove(added)
        event = try await recorder.events.first { if case .servicesChanged = $0 { true } else { false } }
        #expect(event == .servicesChanged(link: link, removed: records.map(\.id), added: []))
    }

    // MARK: Misbehavior

    @Test func aStrangersSignalsAreNotBelieved() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        central.submit(
            .request(link: link, operation: OperationID(rawValue: 12), .setNotifying(attribute, true)))
        try await recorder.events.first { if case .response(_, _, .notifying) = $0 { true } else { false } }
        let stranger = try ScriptedService(on: bus)
        stranger.set(device, ScriptedBlueZ.Interface.device, ["Connected": .boolean(false)])
        stranger.set(characteristic, ScriptedBlueZ.Interface.characteristic, ["Value": .bytes([66])])
        // The bus answers this after it has passed on all earlier messages.
        try stranger.release("org.example.None")
        daemon.notify(characteristic, [1])
        let value = try await recorder.events.first { if case .valueNotified = $0 { true } else { false } }
        #expect(value == .valueNotified(link: link, attribute: attribute, value: Data([1])))
        #expect(!recorder.events.elements.contains { if case .disconnected = $0 { true } else { false } })
    }

    @Test func malformedSignalsAreIgnored() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        let bus = "org.freedesktop.DBus."
        let properties = bus + "Properties"
        daemon.service.emit(device, properties, "PropertiesChanged", [.string("org.bluez.Device1")])
        daemon.service.emit(device, properties, "PropertiesChanged", [.byte(1), .byte(2)])
        daemon.service.emit(
            device, properties, "PropertiesChanged",
            [
                .string("org.bluez.Device1"), .properties(["Connected": .string("no"), "RSSI": .bytes([])]),
                .strings([]),
            ])
        daemon.service.emit(
            characteristic, properties, "PropertiesChanged",
            [.string("org.bluez.GattCharacteristic1"), .properties(["Value": .uint32(1)]), .strings([])])
        for member in ["InterfacesAdded", "InterfacesRemoved"] {
            daemon.service.emit("/", bus + "ObjectManager", member, [.string("/org/bluez/hci0")])
        }
        central.submit(.request(link: link, operation: OperationID(rawValue: 10), .read(attribute)))
        try await recorder.events.first { if case .response(_, _, .value) = $0 { true } else { false } }
    }

    @Test func aSnapshotOfTheWrongShapeIsUnsupportedAndAskedForAgain() async throws {
        let service = try ScriptedService(on: bus)
        let asked = Recorder<Void>()
        let adapter = try #require(ObjectPath(ScriptedBlueZ.adapter))
        service.on("org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { _ in
            asked.append(())
            guard asked.elements.count > 2 else { return .values([.string("no objects")]) }
            let interfaces: ScriptedService.Interfaces = [
                "org.bluez.Adapter1": ["Powered": .boolean(true), "Address": .string("00:11:22:33:44:55")]
            ]
            let entry = DBusDictionary.Entry(
                key: .objectPath(adapter), value: ScriptedService.value(of: interfaces))
            return .values([
                .dictionary(
                    DBusDictionary(keyType: .objectPath, valueType: entry.value.type, entries: [entry]))
            ])
        }
        try service.start(owning: "org.bluez")
        let central = try fixture.central()
        try await recorder.wait(for: .unsupported)
        try await recorder.wait(for: .poweredOn)
        withExtendedLifetime(central) {}
    }

    @Test func anObjectThatVanishesInMidCallIsAnErrorOfThatOperation() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        daemon.service.on(ScriptedBlueZ.Interface.characteristic, "ReadValue") { call in
            .error(DBusError(name: DBusError.Name.unknownObject, message: call.path))
        }
        central.submit(.request(link: link, operation: OperationID(rawValue: 10), .read(attribute)))
        let event = try await recorder.events.first { if case .response(_, _, .failure) = $0 { true } else { false } }
        guard case .response(link, OperationID(rawValue: 10), .failure(let error)) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(error.code == .invalidHandle && error.daemonName == DBusError.Name.unknownObject)
    }

    @Test func aThousandDevicesAreReportedOnceEach() async throws {
        let daemon = try ScriptedBlueZ(on: bus)
        let central = try fixture.central()
        try await recorder.wait(for: .poweredOn)
        central.submit(.startScan(ScanParameters()))
        _ = try await daemon.service.calls.first { $0.member == "StartDiscovery" }
        for index in 0..<1000 {
            let digits = String(index, radix: 16, uppercase: true)
            let padded = String(repeating: "0", count: 4 - digits.count) + digits
            let path = daemon.addDevice("F0:F1:F2:F3:\(padded.prefix(2)):\(padded.suffix(2))")
            daemon.advertise(path, rssi: -40)
        }
        try await recorder.events.wait { $0.count >= 1001 }
        let peers = recorder.events.elements.compactMap {
            if case .discovered(let report) = $0 { report.peer } else { nil }
        }
        #expect(peers.count == 1000 && Set(peers).count == 1000)
    }

    @Test func aReleasedBackendLeavesTheBus() async throws {
        let daemon = try ScriptedBlueZ(on: bus)
        do {
            let central = try fixture.central()
            try await recorder.wait(for: .poweredOn)
            central.invalidate()
        }
        let sender = try #require(daemon.service.calls.elements.last?.sender)
        let observer = try await DBusConnection.open(bus.address, queue: DispatchQueue(label: "test"))
        let owners = Recorder<String?>()
        let watch = observer.watchOwner(of: sender) { result in
            if case .success(let owner) = result { owners.append(owner) }
        }
        try await owners.wait { $0.last == .some(nil) }
        withExtendedLifetime((watch, observer)) {}
    }
}
#endif
