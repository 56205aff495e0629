#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import ScriptedBlueZ

@testable import BlueZ

/// Stores the events of a manager.
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

/// Stores the events about the adapter that a peripheral manager receives.
final class StateRecorder: EventSink {
    let label = "states"
    let states = Recorder<AdapterState>()

    func deliver(_ event: PeripheralEvent) {
        if case .stateChanged(let state) = event { states.append(state) }
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}

/// A backend with short pauses on a private bus, a manager's recorder, and the common steps of tests.
struct BackendFixture {
    static let address = "F0:F1:F2:F3:F4:F5"
    let bus: PrivateBus
    let recorder = EventRecorder()
    /// The wrapper between the manager and the backend.
    private let wrap: (BlueZBackend) throws -> any BluetoothBackend

    init(
        on bus: PrivateBus? = nil, wrappedIn wrap: @escaping (BlueZBackend) throws -> any BluetoothBackend = { $0 }
    ) throws {
        self.bus = try bus ?? PrivateBus()
        self.wrap = wrap
    }

    func makeBackend(
        store: PreservationStore = PreservationStore(folder: nil), acceptsJustWorksPairing: Bool = false,
        notificationMethod: BlueZConfiguration.NotificationMethod = .startNotify,
        powerLoss: Duration = .milliseconds(20)
    ) -> BlueZBackend {
        var timings = BlueZTimings()
        timings.powerLoss = powerLoss
        timings.initialAdapterTimeout = .milliseconds(20)
        timings.connectRetry = .milliseconds(5)
        timings.discoveryRetry = .milliseconds(5)
        timings.snapshotRetry = .milliseconds(5)
        timings.attributeRetry = .milliseconds(2)
        timings.serviceChanges = .milliseconds(20)
        guard case .explicit(let text) = bus.address else { return BlueZBackend() }
        let configuration = BlueZConfiguration(
            busAddress: text, acceptsJustWorksPairing: acceptsJustWorksPairing, notificationMethod: notificationMethod)
        return BlueZBackend(configuration, timings: timings, store: store)
    }

    func central(of backend: BlueZBackend? = nil, restoring identifier: String? = nil) throws -> any CentralBackend {
        let central = try wrap(backend ?? makeBackend()).makeCentral(RoleOptions(restoreIdentifier: identifier))
        central.activate(recorder)
        return central
    }

    /// Returns a daemon with the heart-rate device, and a manager that has found it.
    func discovered(
        of backend: BlueZBackend? = nil, restoring identifier: String? = nil
    ) async throws -> (ScriptedBlueZ, any CentralBackend, PeerID) {
        let daemon = try ScriptedBlueZ(on: bus)
        let central = try central(of: backend, restoring: identifier)
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

    func connected(
        of backend: BlueZBackend? = nil
    ) async throws -> (ScriptedBlueZ, any CentralBackend, PeerID, LinkID) {
        let (daemon, central, peer) = try await discovered(of: backend)
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        let event = try await recorder.events.first { if case .connected = $0 { true } else { false } }
        guard case .connected(_, let link, _, _) = event else { throw CancellationError() }
        return (daemon, central, peer, link)
    }

    var device: String { ScriptedBlueZ.path(of: Self.address) }
    var characteristic: String { device + "/service0010/char0011" }

    /// Discovers the one characteristic.
    ///
    /// - Parameter events: The events of the central; nil for those of ``recorder``.
    func attribute(
        _ central: any CentralBackend, _ link: LinkID, events: Recorder<CentralEvent>? = nil
    ) async throws -> AttributeID {
        let events = events ?? recorder.events
        central.submit(.request(link: link, operation: OperationID(rawValue: 2), .discoverServices(nil)))
        let found = try await events.first { if case .response(_, _, .services) = $0 { true } else { false } }
        guard case .response(_, _, .services(let services)) = found, let service = services.first else {
            throw CancellationError()
        }
        central.submit(
            .request(link: link, operation: OperationID(rawValue: 3), .discoverCharacteristics(of: service.id, nil)))
        let event = try await events.first {
            if case .response(_, _, .characteristics) = $0 { true } else { false }
        }
        guard case .response(_, _, .characteristics(let records)) = event, let record = records.first else {
            throw CancellationError()
        }
        return record.id
    }
}
#endif
