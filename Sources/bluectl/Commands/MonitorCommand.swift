import ArgumentParser
import BluetoothBackend
import CoreBluetoothPackage
import Foundation

/// `bluectl monitor`: events of an adapter.
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
    var service: [ServiceArgument] = []

    @Option(help: ArgumentHelp("End after this time.", valueName: "S"))
    var duration: Seconds?

    @Flag(help: "Report every advertisement, not only those with new information.")
    var duplicates = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let monitor = Monitor(role.backend, services: service.map(\.uuid), allowsDuplicates: duplicates) { record in
            if role.console.isJSON {
                role.console.print(json: record)
            } else {
                role.console.print(record.line)
            }
        }
        defer { monitor.stop() }
        try await role.wait(for: duration?.duration)
    }
}

/// Observes an adapter: its states, what advertises, and the connections of all programs.
///
/// It uses its own manager, because one delegate receives events of all kinds in the order in which they happen.
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

    /// Ends the reports.
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

/// An event that `monitor` prints.
struct MonitorRecord: Encodable {
    /// The time at which it was received, ISO 8601 in UTC.
    let time: String
    /// `state`, `discovered`, `connected`, `disconnected`.
    let event: String
    /// The state, for that event.
    var state: String?
    /// The device, for the other events; its fields are those of the record.
    private var device: ScanRecord?
    /// Further contents of the advertisement, for people only.
    private var details = ""
    let backend: String

    /// A state of the adapter.
    init(state: String, at date: Date, backend: String) {
        time = TimeText.of(date)
        event = "state"
        self.state = state
        self.backend = backend
    }

    /// An event of a device.
    init(_ event: String, _ device: DeviceRecord, at date: Date, backend: String) {
        time = TimeText.of(date)
        self.event = event
        self.device = ScanRecord(device, backend: backend)
        details = AdvertisementText.details(of: device)
        self.backend = backend
    }

    private enum CodingKeys: String, CodingKey { case time, event, state, backend }

    func encode(to encoder: any Encoder) throws {
        try device?.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode(event, forKey: .event)
        try container.encodeIfPresent(state, forKey: .state)
        try container.encode(backend, forKey: .backend)
    }

    /// Time, event and the known fields, separated by tabs: the state, or identifier, address, RSSI, name, services,
    /// and other advertised data, if there is any.
    var line: String {
        if let state { return [time, event, state].joined(separator: "\t") }
        let services = (device?.services ?? []).map { AttributeText.label($0) }.joined(separator: ", ")
        let fields = [
            device?.identifier, device?.address, device?.rssi.map(String.init), device?.name.map(PrintableText.of),
            services.isEmpty ? nil : services,
        ]
        return ([time, event] + fields.map { $0 ?? "-" } + (details.isEmpty ? [] : [details])).joined(separator: "\t")
    }
}
