import BluetoothBackend
import CoreBluetoothPackage

/// Hears of all that a session's radio tells.
@MainActor
final class Monitor {
    private let session: Session
    private let services: [BluetoothUUID]
    private let report: (MonitorRecord) -> Void
    private var seen: Set<UUID> = []

    /// - Parameters:
    ///   - services: Only devices that advertise one of these; empty for all.
    ///   - report: Called with each event.
    init(_ session: Session, services: [BluetoothUUID], report: @escaping (MonitorRecord) -> Void) {
        self.session = session
        self.services = services
        self.report = report
    }

    /// Begins with the state and the devices that are connected already.
    func start(allowsDuplicates: Bool) {
        session.onState = { [weak self] in self?.changed(to: $0) }
        session.onDiscovery = { [weak self] in self?.discovered($0, $1) }
        session.onConnectionEvent = { [weak self] in self?.connection($1, of: $0) }
        show(session.state)
        for peripheral in session.central.retrieveConnectedPeripherals(withServices: offered) {
            seen.insert(peripheral.identifier)
            show("connected", DeviceRecord(peripheral))
        }
        listen()
        session.startScan(ScanSettings(services: services, allowsDuplicates: allowsDuplicates))
    }

    /// Hears no more.
    func stop() {
        session.onState = nil
        session.onDiscovery = nil
        session.onConnectionEvent = nil
        session.stopScan()
        if session.state == .poweredOn { session.central.registerForConnectionEvents(options: nil) }
    }

    /// What connected devices are asked for; every device has Generic Access.
    private var offered: [CBUUID] {
        services.isEmpty ? ["1800", "1801"].map(CBUUID.init(string:)) : services.map { CBUUID($0) }
    }

    private func listen() {
        session.central.registerForConnectionEvents(options: [
            .serviceUUIDs: offered, .peripheralUUIDs: Array(seen),
        ])
    }

    private func changed(to state: CBManagerState) {
        show(state)
        if state == .poweredOn { listen() }
    }

    private func discovered(_ peripheral: CBPeripheral, _ device: DeviceRecord) {
        show("discovered", device)
        if seen.insert(peripheral.identifier).inserted { listen() }
    }

    private func connection(_ event: CBConnectionEvent, of peripheral: CBPeripheral) {
        show(event == .peerConnected ? "connected" : "disconnected", DeviceRecord(peripheral))
    }

    private func show(_ state: CBManagerState) {
        report(MonitorRecord(state: "\(state)", at: Date(), backend: session.backendName))
    }

    private func show(_ event: String, _ device: DeviceRecord) {
        report(MonitorRecord(event, device, at: Date(), backend: session.backendName))
    }
}
