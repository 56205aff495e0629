#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The filter that a client sets for its discovery.
///
/// Pure. Source: BlueZ, `doc/org.bluez.Adapter.rst`, `SetDiscoveryFilter`, and `src/adapter.c`.
struct DiscoveryFilter: Equatable, Sendable {
    static func keys(_ dialect: BlueZDialect) -> [String] {
        ["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"]
            + (dialect >= .bluez5_87 ? ["AutoConnect"] : [])
    }

    var uuids: Set<BluetoothUUID> = []
    var rssi: Int?
    var pathloss: Int?
    var wantsDuplicates = false
    var isLowEnergy = true
    var pattern: String?
    /// Whether the daemon connects to devices that fit the pattern.
    var connects = false
    /// Whether the letter case of addresses matters, as it does in 5.82.
    private let isCaseSensitive: Bool

    /// - Throws: `InvalidArguments` for an unknown key, a wrong type, or both a strength and a loss.
    init(_ properties: [String: DBusValue], _ dialect: BlueZDialect) throws(DBusError) {
        isCaseSensitive = dialect < .bluez5_87
        for (key, value) in properties {
            switch (key, value) {
            case ("UUIDs", .array(.string, let texts)):
                let uuids = texts.compactMap { $0.stringValue.flatMap { BluetoothUUID($0) } }
                guard uuids.count == texts.count else { throw BlueZError.invalidArguments }
                self.uuids = Set(uuids)
            case ("RSSI", .int16(let rssi)) where (-127...20).contains(rssi): self.rssi = Int(rssi)
            case ("Pathloss", .uint16(let loss)) where loss <= 137: pathloss = Int(loss)
            case ("Transport", .string(let transport)) where ["auto", "bredr", "le"].contains(transport):
                isLowEnergy = transport != "bredr"
            case ("DuplicateData", .boolean(let isOn)): wantsDuplicates = isOn
            case ("Discoverable", .boolean): break  // an adapter without BR/EDR has nothing to change
            case ("Pattern", .string(let pattern)): self.pattern = pattern
            case ("AutoConnect", .boolean(let isOn)) where dialect >= .bluez5_87: connects = isOn
            default: throw BlueZError.invalidArguments
            }
        }
        guard rssi == nil || pathloss == nil else { throw BlueZError.invalidArguments }
    }

    func matches(_ discovery: Discovery) -> Bool {
        guard isLowEnergy else { return false }
        if !uuids.isEmpty, uuids.isDisjoint(with: discovery.advertisement.serviceUUIDs ?? []) { return false }
        if let rssi, discovery.rssi < rssi { return false }
        if let pathloss {
            guard let power = discovery.advertisement.txPowerLevel, Int(power) - discovery.rssi <= pathloss else {
                return false
            }
        }
        return fits(discovery, pattern ?? "")
    }

    /// Whether the daemon connects to the device of a packet.
    func wantsConnection(_ discovery: Discovery) -> Bool {
        connects && pattern.map { fits(discovery, $0) } == true
    }

    private func fits(_ discovery: Discovery, _ pattern: String) -> Bool {
        guard !pattern.isEmpty else { return true }
        let address = isCaseSensitive ? pattern : pattern.uppercased()
        return discovery.address?.hasPrefix(address) == true || discovery.name?.hasPrefix(pattern) == true
    }
}

/// The discovery sessions of an adapter, one for each client, and the filters of clients.
///
/// Pure.
struct DiscoverySessions: Sendable {
    /// The clients that discover, in the order in which they started.
    private(set) var clients: [String] = []
    private var filters: [String: DiscoveryFilter] = [:]
    /// Whether the adapter scans, for clients or for monitors.
    var isListening = false

    var isActive: Bool { !clients.isEmpty }

    /// Whether each packet is reported, not only a change of signal strength; true if a session has a filter.
    var isFiltered: Bool { clients.contains { filters[$0] != nil } }

    var wantsDuplicates: Bool { clients.contains { filters[$0]?.wantsDuplicates == true } }

    mutating func setFilter(_ filter: DiscoveryFilter?, of client: String) { filters[client] = filter }

    /// - Returns: Whether the session is new.
    mutating func start(_ client: String) -> Bool {
        guard !clients.contains(client) else { return false }
        clients.append(client)
        return true
    }

    /// - Returns: Whether the client had a session.
    mutating func stop(_ client: String) -> Bool {
        guard let index = clients.firstIndex(of: client) else { return false }
        clients.remove(at: index)
        return true
    }

    mutating func stopAll() { clients = [] }

    mutating func forget(_ client: String) -> Bool {
        filters[client] = nil
        return stop(client)
    }

    func wantConnection(_ discovery: Discovery) -> Bool {
        clients.contains { filters[$0]?.wantsConnection(discovery) == true }
    }

    /// Whether any session accepts a report; all clients then receive it.
    func lets(_ discovery: Discovery) -> Bool {
        clients.contains { filters[$0]?.matches(discovery) ?? true }
    }
}

extension DaemonAdapter {
    mutating func startDiscovery(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        guard state.isPowered else { throw BlueZError.notReady }
        guard discovery.start(call.sender) else { throw BlueZError.inProgress }
        discoveryChanged(&context)
        context.answer(call.id)
    }

    mutating func stopDiscovery(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        guard state.isPowered else { throw BlueZError.notReady }
        guard discovery.stop(call.sender) else { throw BlueZError.failed("No discovery started") }
        discoveryChanged(&context)
        context.answer(call.id)
    }

    mutating func setDiscoveryFilter(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        guard state.isPowered else { throw BlueZError.notReady }
        let properties = call.arguments.first?.propertiesValue ?? [:]
        let filter = properties.isEmpty ? nil : try DiscoveryFilter(properties, context.dialect)
        discovery.setFilter(filter, of: call.sender)
        context.answer(call.id)
    }

    mutating func endDiscovery(_ context: inout DaemonContext) {
        discovery.stopAll()
        discoveryChanged(&context)
    }

    /// Starts or stops scanning, and updates `Discovering`.
    mutating func discoveryChanged(_ context: inout DaemonContext) {
        let isActive = discovery.isActive
        listen(&context)
        let wasActive = shown("Discovering", context)?.boolValue == true
        guard isActive != wasActive else { return }
        if !isActive { discoveryEnded(&context) }
        context.set("Discovering", .boolean(isActive), of: BlueZInterfaces.adapter, at: path)
    }

    /// Scans while a client discovers or a monitor is active.
    mutating func listen(_ context: inout DaemonContext) {
        let wants = state.isPowered && (discovery.isActive || monitors.isActive)
        guard wants != discovery.isListening else { return }
        discovery.isListening = wants
        context.output(
            .central(adapter: index, wants ? .startScan(ScanParameters(allowDuplicates: true)) : .stopScan))
    }

    /// Removes the signal strengths, and forgets the devices that are not connectable.
    private mutating func discoveryEnded(_ context: inout DaemonContext) {
        for device in devices.values.sorted(by: { $0.path < $1.path }) {
            devices[device.peer]?.hideStrength(&context)
            if device.isTemporary, !device.heard.isConnectable, !device.isInUse { forget(device.peer, &context) }
        }
    }
}
#endif
