#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// Keeps what a manager is told.
final class EventRecorder: EventSink {
    let label = "recorder"
    let events = Recorder<CentralEvent>()

    func deliver(_ event: CentralEvent) { events.append(event) }
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }

    func states() -> [AdapterState] {
        events.elements.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    }

    func wait(for state: AdapterState) async throws {
        try await events.wait { events in
            events.last { if case .stateChanged = $0 { true } else { false } } == .stateChanged(state)
        }
    }
}

/// The backend as a whole, on a private bus, against a scripted `org.bluez`.
@Suite struct BlueZBackendTests {
    private static let address = "F0:F1:F2:F3:F4:F5"
    private let bus: PrivateBus
    private let recorder = EventRecorder()

    init() throws { bus = try PrivateBus() }

    private var backend: BlueZBackend {
        var timings = BlueZTimings()
        timings.powerLoss = .milliseconds(20)
        timings.arrival = .milliseconds(20)
        timings.connectRetry = .milliseconds(5)
        timings.discoveryRetry = .milliseconds(5)
        timings.snapshotRetry = .milliseconds(5)
        timings.attributeRetry = .milliseconds(2)
        timings.serviceChanges = .milliseconds(20)
        guard case .explicit(let text) = bus.address else { return BlueZBackend() }
        return BlueZBackend(BlueZConfiguration(busAddress: text), timings: timings)
    }

    private func central() -> any CentralBackend {
        let central = backend.makeCentral(CentralOptions())
        central.activate(recorder)
        return central
    }

    /// A daemon with the heart-rate device, and a manager that has found it.
    private func discovered() async throws -> (ScriptedBlueZ, any CentralBackend, PeerID) {
        let daemon = try ScriptedBlueZ(on: bus)
        let central = central()
        try await recorder.wait(for: .poweredOn)
        central.submit(.startScan(ScanParameters()))
        _ = try await daemon.service.calls.first { $0.member == "StartDiscovery" }
        let path = daemon.addDevice(Self.address, name: "Heart", services: ["0000180d-0000-1000-8000-00805f9b34fb"])
        let service = daemon.addService(path, handle: "0010", uuid: "0000180d-0000-1000-8000-00805f9b34fb")
        daemon.addCharacteristic(
            service, handle: "0011", uuid: "00002a37-0000-1000-8000-00805f9b34fb",
            flags: ["read", "write", "write-without-response", "notify"], value: [1, 2, 3], mtu: 247)
        let event = try await recorder.events.first { if case .discovered = $0 { true } else { false } }
        guard case .discovered(let discovery) = event else { throw CancellationError() }
        return (daemon, central, discovery.peer)
    }

    private func connected() async throws -> (ScriptedBlueZ, any CentralBackend, PeerID, LinkID) {
        let (daemon, central, peer) = try await discovered()
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        let event = try await recorder.events.first { if case .connected = $0 { true } else { false } }
        guard case .connected(_, let link, _, _) = event else { throw CancellationError() }
        return (daemon, central, peer, link)
    }

    private var device: String { ScriptedBlueZ.path(of: Self.address) }
    private var characteristic: String { device + "/service0010/char0011" }

    /// Discovers the one characteristic.
    private func attribute(_ central: any CentralBackend, _ link: LinkID) async throws -> AttributeID {
        central.submit(.discoverServices(link: link, operation: OperationID(rawValue: 2), uuids: nil))
        let found = try await recorder.events.first { if case .servicesDiscovered = $0 { true } else { false } }
        guard case .servicesDiscovered(_, _, let services) = found, let service = services.first else {
            throw CancellationError()
        }
        central.submit(
            .discoverCharacteristics(link: link, operation: OperationID(rawValue: 3), service: service.id, uuids: nil))
        let event = try await recorder.events.first {
            if case .characteristicsDiscovered = $0 { true } else { false }
        }
        guard case .characteristicsDiscovered(_, _, let records) = event, let record = records.first else {
            throw CancellationError()
        }
        return record.id
    }

    // MARK: State

    @Test func withoutABusItIsUnsupported() async throws {
        let backend = BlueZBackend(BlueZConfiguration(busAddress: "unix:path=/nonexistent"))
        let central = backend.makeCentral(CentralOptions())
        central.activate(recorder)
        try await recorder.wait(for: .unsupported)
        central.invalidate()
    }

    @Test func withoutADaemonItIsUnsupportedAndALaterDaemonIsUsed() async throws {
        let central = central()
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
        let central = backend.makeCentral(CentralOptions())
        central.activate(recorder)
        try await recorder.wait(for: .unsupported)
        central.invalidate()
    }

    @Test func withoutAnAdapterItIsUnsupportedAndALaterAdapterIsUsed() async throws {
        let daemon = try ScriptedBlueZ(on: bus)
        daemon.service.remove(ScriptedBlueZ.adapter)
        let central = central()
        try await recorder.wait(for: .unsupported)
        daemon.addAdapter()
        try await recorder.wait(for: .poweredOn)
        withExtendedLifetime(central) {}
    }

    @Test func powerIsFollowed() async throws {
        let daemon = try ScriptedBlueZ(on: bus, isPowered: false)
        let central = central()
        try await recorder.wait(for: .poweredOff)
        daemon.setPowered(true)
        try await recorder.wait(for: .poweredOn)
        withExtendedLifetime(central) {}
    }

    @Test func aKilledDaemonIsResettingAndComesBack() async throws {
        let (daemon, central, _, _) = try await connected()
        daemon.kill()
        try await recorder.wait(for: .resetting)
        try daemon.start()
        try await recorder.wait(for: .poweredOn)
        #expect(recorder.states() == [.poweredOn, .resetting, .poweredOn])
        let ends = recorder.events.elements.filter { if case .disconnected = $0 { true } else { false } }
        #expect(ends.isEmpty)
        // The new daemon is asked, under its own name.
        daemon.service.calls.removeAll()
        central.submit(.startScan(ScanParameters()))
        try await daemon.service.calls.first { $0.member == "StartDiscovery" }
    }

    @Test func aLostBusIsResetting() async throws {
        let daemon = try ScriptedBlueZ(on: bus)
        let central = central()
        try await recorder.wait(for: .poweredOn)
        bus.kill()
        try await recorder.wait(for: .resetting)
        withExtendedLifetime((central, daemon)) {}
    }

    /// Proves S12.
    @Test func S12_powerOffCallsNoDisconnect() async throws {
        let (daemon, central, _, _) = try await connected()
        daemon.setPowered(false)
        try await recorder.wait(for: .poweredOff)
        #expect(!recorder.events.elements.contains { if case .disconnected = $0 { true } else { false } })
        withExtendedLifetime(central) {}
    }

    // MARK: The main job

    @Test func aDeviceIsFoundConnectedReadWrittenSubscribedAndLeft() async throws {
        let (daemon, central, peer, link) = try await connected()
        let attribute = try await attribute(central, link)
        central.submit(.read(link: link, operation: OperationID(rawValue: 10), attribute: attribute))
        central.submit(
            .write(link: link, operation: OperationID(rawValue: 11), attribute: attribute, value: Data([9])))
        central.submit(.writeCommand(link: link, attribute: attribute, value: Data([8, 8])))
        central.submit(
            .setNotifying(link: link, operation: OperationID(rawValue: 12), attribute: attribute, enabled: true))
        try await recorder.events.first {
            $0 == .notifyingChanged(link: link, operation: OperationID(rawValue: 12), isNotifying: true)
        }
        for byte in UInt8(0)..<50 { daemon.notify(characteristic, [byte]) }
        let last = CentralEvent.valueNotified(link: link, attribute: attribute, value: Data([49]))
        try await recorder.events.first { $0 == last }
        central.submit(.disconnect(peer: peer))
        let events = try await recorder.events.wait { events in
            events.contains { if case .disconnected = $0 { true } else { false } }
        }
        let start = try #require(events.firstIndex { if case .valueRead = $0 { true } else { false } })
        #expect(events[start] == .valueRead(link: link, operation: OperationID(rawValue: 10), value: Data([1, 2, 3])))
        #expect(events[start + 1] == .written(link: link, operation: OperationID(rawValue: 11)))
        #expect(events[start + 2] == .writeCredits(link: link, count: 1))
        #expect(
            Array(events[(start + 4)..<(start + 54)])
                == (0..<50).map { .valueNotified(link: link, attribute: attribute, value: Data([UInt8($0)])) })
        #expect(daemon.value(at: characteristic) == [8, 8])
        #expect(events.contains(.mtuChanged(link: link, mtu: 247)) || events.contains { Self.mtu($0) == 247 })
        try await daemon.service.calls.first { $0.member == "Disconnect" }
        #expect(daemon.service.calls.elements.contains { $0.member == "StopNotify" })
    }

    private static func mtu(_ event: CentralEvent) -> Int? {
        if case .connected(_, _, _, let parameters) = event { parameters.mtu } else { nil }
    }

    @Test func aLinkThatThePeerEndsIsToldWithItsReason() async throws {
        let (daemon, central, _, link) = try await connected()
        daemon.dropLink(device, reason: "Remote")
        let event = try await recorder.events.first { if case .disconnected = $0 { true } else { false } }
        guard case .disconnected(link, .remote, _, false) = event else {
            Issue.record("\(event)")
            return
        }
        withExtendedLifetime(central) {}
    }

    @Test func aConnectIsTriedAgainUntilItSucceeds() async throws {
        let (daemon, central, peer) = try await discovered()
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
        let (daemon, central, peer) = try await discovered()
        central.submit(.stopScan)
        try await daemon.service.calls.first { $0.member == "StopDiscovery" }
        daemon.service.remove(device)
        daemon.service.calls.removeAll()
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        try await daemon.service.calls.first { $0.member == "StartDiscovery" }
        daemon.addDevice(Self.address, name: "Heart")
        try await recorder.events.first { if case .connected = $0 { true } else { false } }
    }

    @Test func servicesThatComeAndGoAreTold() async throws {
        let (daemon, central, _, link) = try await connected()
        _ = try await attribute(central, link)
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

    // MARK: Misbehaviour

    @Test func aStrangersSignalsAreNotBelieved() async throws {
        let (daemon, central, _, link) = try await connected()
        let attribute = try await attribute(central, link)
        central.submit(
            .setNotifying(link: link, operation: OperationID(rawValue: 12), attribute: attribute, enabled: true))
        try await recorder.events.first { if case .notifyingChanged = $0 { true } else { false } }
        let stranger = try ScriptedService(on: bus)
        stranger.set(device, ScriptedBlueZ.Interface.device, ["Connected": .boolean(false)])
        stranger.set(characteristic, ScriptedBlueZ.Interface.characteristic, ["Value": .bytes([66])])
        // Answered by the bus after it has passed on what came before.
        try stranger.release("org.example.None")
        daemon.notify(characteristic, [1])
        let value = try await recorder.events.first { if case .valueNotified = $0 { true } else { false } }
        #expect(value == .valueNotified(link: link, attribute: attribute, value: Data([1])))
        #expect(!recorder.events.elements.contains { if case .disconnected = $0 { true } else { false } })
    }

    @Test func malformedSignalsAreIgnored() async throws {
        let (daemon, central, _, link) = try await connected()
        let attribute = try await attribute(central, link)
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
        central.submit(.read(link: link, operation: OperationID(rawValue: 10), attribute: attribute))
        try await recorder.events.first { if case .valueRead = $0 { true } else { false } }
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
        let central = central()
        try await recorder.wait(for: .unsupported)
        try await recorder.wait(for: .poweredOn)
        withExtendedLifetime(central) {}
    }

    @Test func anObjectThatVanishesInMidCallIsAnErrorOfThatOperation() async throws {
        let (daemon, central, _, link) = try await connected()
        let attribute = try await attribute(central, link)
        daemon.service.on(ScriptedBlueZ.Interface.characteristic, "ReadValue") { call in
            .error(DBusError(name: DBusError.Name.unknownObject, message: call.path))
        }
        central.submit(.read(link: link, operation: OperationID(rawValue: 10), attribute: attribute))
        let event = try await recorder.events.first { if case .operationFailed = $0 { true } else { false } }
        guard case .operationFailed(link, OperationID(rawValue: 10), let error) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(error.code == .invalidHandle && error.daemonName == DBusError.Name.unknownObject)
    }

    @Test func aThousandDevicesAreReportedOnceEach() async throws {
        let daemon = try ScriptedBlueZ(on: bus)
        let central = central()
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
            let central = central()
            try await recorder.wait(for: .poweredOn)
            central.invalidate()
        }
        let observer = try ScriptedService(on: bus)
        let sender = try #require(daemon.service.calls.elements.last?.sender)
        let deadline = ContinuousClock.now + .seconds(20)
        while try observer.hasOwner(sender) {
            try #require(ContinuousClock.now < deadline)
            await Task.yield()
        }
    }
}
#endif
