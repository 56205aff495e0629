import BluetoothBackend
import CoreBluetoothPackage

/// Observes an adapter: its states, what advertises, and the connections of all programs.
///
/// It has a manager of its own, since one delegate gets events of all kinds in the order in which they happen.
@MainActor
final class Monitor: NSObject {
    private let manager: CBCentralManager
    private let services: [BluetoothUUID]
    private let allowsDuplicates: Bool
    private let report: (MonitorRecord) -> Void
    private var seen: Set<UUID> = []
    private var hasBegun = false

    /// - Parameters:
    ///   - services: Only devices that advertise one of these; empty for all.
    ///   - allowsDuplicates: Whether every advertisement is reported, and not only those that add something.
    ///   - report: Called with each event, first with the state and the devices that are connected already.
    init(
        _ backend: CBBackendSelection, services: [BluetoothUUID], allowsDuplicates: Bool,
        report: @escaping (MonitorRecord) -> Void
    ) {
        manager = CBCentralManager(backend: backend, delegate: nil, queue: .main)
        self.services = services
        self.allowsDuplicates = allowsDuplicates
        self.report = report
        super.init()
        // Callbacks come through the main queue, so none has come yet.
        manager.delegate = self
    }

    /// Reports nothing more.
    func stop() {
        manager.delegate = nil
        guard manager.state == .poweredOn else { return }
        manager.stopScan()
        manager.registerForConnectionEvents(options: nil)
    }

    /// What connected devices are asked for; every device has Generic Access.
    private var offered: [CBUUID] {
        services.isEmpty ? ["1800", "1801"].map(CBUUID.init(string:)) : services.map { CBUUID($0) }
    }

    private func begin() {
        if !hasBegun {
            hasBegun = true
            for peripheral in manager.retrieveConnectedPeripherals(withServices: offered) {
                seen.insert(peripheral.identifier)
                show("connected", DeviceRecord(peripheral))
            }
        }
        registerForConnections()
        manager.scanForPeripherals(
            withServices: services.isEmpty ? nil : services.map { CBUUID($0) },
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates])
    }

    private func registerForConnections() {
        manager.registerForConnectionEvents(options: [.serviceUUIDs: offered, .peripheralUUIDs: Array(seen)])
    }

    private func show(_ event: String, _ device: DeviceRecord) {
        report(MonitorRecord(event, device, at: Date(), backend: manager.backendName))
    }
}

extension Monitor: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        report(MonitorRecord(state: "\(central.state)", at: Date(), backend: central.backendName))
        if central.state == .poweredOn { begin() }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        show("discovered", DeviceRecord(peripheral, advertisementData: advertisementData, rssi: RSSI))
        if seen.insert(peripheral.identifier).inserted { registerForConnections() }
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        show(event == .peerConnected ? "connected" : "disconnected", DeviceRecord(peripheral))
    }
}
