import ArgumentParser
import BluetoothBackend
import CoreBluetoothClasses
import Foundation

struct MonitorCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Print events as they happen: adapter states, discoveries, connections.",
        discussion: """
            Each line has the time, the event (state, discovered, connected, disconnected) and, for a device, its \
            identifier, address, RSSI, name and services, separated by tabs. Connections by any program are reported \
            if the device was discovered, or offers Generic Access or a --service. The command runs until Ctrl-C, or \
            for --duration, even while the adapter is off.
            """)

    var endsByInterruption: Bool { true }

    @Option(help: ArgumentHelp("Report only devices that advertise this service; may be repeated.", valueName: "UUID"))
    var service: [BluetoothUUID] = []

    @Option(help: ArgumentHelp("End after this time.", valueName: "S"))
    var duration: Seconds?

    @Flag(help: "Report every advertisement, not only those with new information.")
    var duplicates = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let monitor = Monitor(role.backend, services: service, allowsDuplicates: duplicates) { event in
            role.console.show(event.fields(backend: role.backendName), [event.line])
        }
        defer { monitor.stop() }
        try await role.wait(for: duration?.duration)
    }
}

/// A monitor of an adapter: its states, the advertising devices, and the connections of all programs.
///
/// It uses its own manager, because one delegate receives events of all kinds in the order in which they happen.
@MainActor
final class Monitor: NSObject {
    private let manager: CBCentralManager
    private let services: [BluetoothUUID]
    private let allowsDuplicates: Bool
    private let report: (MonitorEvent) -> Void
    private var seen: Set<UUID> = []
    private var hasBegun = false

    /// - Parameters:
    ///   - services: The services of which a device must advertise one; empty for all devices.
    ///   - allowsDuplicates: Whether every advertisement is reported, not only those with new content.
    ///   - report: Called with each event, first with the state and the devices that are connected already.
    init(
        _ backend: CBBackendSelection, services: [BluetoothUUID], allowsDuplicates: Bool,
        report: @escaping (MonitorEvent) -> Void
    ) {
        manager = CBCentralManager(backend: backend, delegate: nil, queue: .main)
        self.services = services
        self.allowsDuplicates = allowsDuplicates
        self.report = report
        super.init()
        // Callbacks come through the main queue, so none has arrived yet.
        manager.delegate = self
    }

    func stop() {
        manager.delegate = nil
        guard manager.state == .poweredOn else { return }
        manager.stopScan()
        manager.registerForConnectionEvents(options: nil)
    }

    /// The services by which connected devices are found; every device has Generic Access.
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

    private func show(_ event: String, _ device: DeviceRecord) { report(MonitorEvent(event: event, device: device)) }
}

extension Monitor: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        report(MonitorEvent(event: "state", state: "\(central.state)"))
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

struct MonitorEvent {
    /// The time of its arrival.
    let time = TimeText.now
    /// One of `state`, `discovered`, `connected`, `disconnected`.
    let event: String
    var state: String?
    var device: DeviceRecord?

    /// The event as JSON, with the fields of a scan for a device.
    func fields(backend: String) -> JSONFields {
        let own: JSONFields = ["time": time, "event": event, "state": state, "backend": backend]
        return device?.fields(backend: backend).merging(own) ?? own
    }

    /// Time, event, and the state or the line of the device, separated by tabs.
    var line: String { [time, event, state ?? device?.line ?? "-"].joined(separator: "\t") }
}
