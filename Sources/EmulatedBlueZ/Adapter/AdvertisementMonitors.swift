#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The root below which a client exports monitors.
struct MonitorRootKey: Hashable, Sendable {
    let client: String
    let root: ObjectPath
}

/// A pattern of an advertisement monitor: bytes at an offset of one field of the packet.
struct MonitorPattern: Equatable, Sendable {
    let offset: Int
    /// The type of the field (Assigned Numbers, "Common Data Types").
    let type: UInt8
    let bytes: [UInt8]

    func matches(_ advertisement: Advertisement) -> Bool {
        Self.fields(of: type, in: advertisement).contains { field in
            field.count >= offset + bytes.count && Array(field[offset..<offset + bytes.count]) == bytes
        }
    }

    /// The fields of a type as they are on the air; the flags are those of a device that is found in general.
    private static func fields(of type: UInt8, in advertisement: Advertisement) -> [[UInt8]] {
        func list(_ uuids: [BluetoothUUID]?, _ width: BluetoothUUID.Width) -> [[UInt8]] {
            let bytes = (uuids ?? []).filter { $0.width == width }.flatMap { $0.bigEndianBytes.reversed() }
            return bytes.isEmpty ? [] : [bytes]
        }
        switch type {
        case 0x01: return [[0x06]]
        case 0x02, 0x03: return list(advertisement.serviceUUIDs, .bits16)
        case 0x04, 0x05: return list(advertisement.serviceUUIDs, .bits32)
        case 0x06, 0x07: return list(advertisement.serviceUUIDs, .bits128)
        case 0x08, 0x09: return advertisement.localName.map { [Array($0.utf8)] } ?? []
        case 0x0A: return advertisement.txPowerLevel.map { [[UInt8(bitPattern: $0)]] } ?? []
        case 0x14: return list(advertisement.solicitedServiceUUIDs, .bits16)
        case 0x15: return list(advertisement.solicitedServiceUUIDs, .bits128)
        case 0x16, 0x20, 0x21:
            return (advertisement.serviceData ?? [:]).map { $0.key.bigEndianBytes.reversed() + Array($0.value) }
        case 0xFF: return advertisement.manufacturerData.map { [Array($0)] } ?? []
        default: return []
        }
    }
}

/// The monitors of clients: devices are reported to them while no client discovers.
struct AdvertisementMonitors: Sendable {
    struct Monitor: Sendable {
        let path: ObjectPath
        let patterns: [MonitorPattern]
        /// The devices that were reported to the client.
        var found: Set<PeerID> = []
    }

    var roots: [MonitorRootKey: [Monitor]] = [:]

    var isActive: Bool { roots.values.contains { !$0.isEmpty } }

    func lets(_ discovery: Discovery) -> Bool {
        roots.values.contains { monitors in
            monitors.contains { $0.patterns.contains { $0.matches(discovery.advertisement) } }
        }
    }
}

extension BluetoothDaemon {
    static let monitorInterface = "org.bluez.AdvertisementMonitor1"

    var monitorManagerProperties: ObjectTree.Properties {
        [
            "SupportedMonitorTypes": .strings(["or_patterns"]),
            "SupportedFeatures": .strings(["controller-patterns"]),
        ]
    }

    mutating func handleMonitorCall(_ call: ClientCall, on index: Int) throws(DBusError) {
        guard let root = call.arguments.first?.pathValue else { throw BlueZError.invalidArguments }
        let key = MonitorRootKey(client: call.sender, root: root)
        guard call.member == "RegisterMonitor" else {
            guard adapters[index].monitors.roots.removeValue(forKey: key) != nil else { throw BlueZError.doesNotExist }
            listen(on: index)
            return answer(call.id)
        }
        guard adapters[index].monitors.roots[key] == nil else { throw BlueZError.alreadyExists }
        let count = adapters[index].monitors.roots.keys.count { $0.client == call.sender }
        guard count < DaemonLimits.monitors else { throw BlueZError.notPermitted("Maximum monitors reached") }
        adapters[index].monitors.roots[key] = []
        output(.watch(client: call.sender))
        answer(call.id)
        request(
            .monitor(adapter: index, key), of: call.sender, root, StandardInterface.objectManager.name,
            "GetManagedObjects", deadline: configuration.applicationDeadline)
    }

    /// The monitors that a client had exported when it registered their root.
    mutating func monitorRead(_ key: MonitorRootKey, _ result: Result<[DBusValue], DBusError>, on index: Int) {
        guard case .success(let values) = result else { return }
        for (path, interfaces) in ApplicationDescription.objects(in: values.first) {
            if let properties = interfaces[Self.monitorInterface] { add(path, properties, key, on: index) }
        }
    }

    /// A client exports a monitor below a registered root.
    mutating func objectsAdded(_ signal: ClientSignal) {
        guard let path = signal.arguments.first?.pathValue, let value = signal.arguments.last,
            let properties = ApplicationDescription.interfaces(in: value)[Self.monitorInterface]
        else { return }
        for index in adapters.indices {
            for key in adapters[index].monitors.roots.keys
            where key.client == signal.sender && (path == key.root || path.isBelow(key.root)) {
                add(path, properties, key, on: index)
            }
        }
    }

    /// A client withdraws the object of a monitor: the monitor goes, without `Release`.
    mutating func monitorRemoved(_ path: ObjectPath, of client: String) {
        for index in adapters.indices {
            for key in adapters[index].monitors.roots.keys where key.client == client {
                adapters[index].monitors.roots[key]?.removeAll { $0.path == path }
            }
            listen(on: index)
        }
    }

    private mutating func add(
        _ path: ObjectPath, _ properties: [String: DBusValue], _ key: MonitorRootKey, on index: Int
    ) {
        guard let monitors = adapters[index].monitors.roots[key], !monitors.contains(where: { $0.path == path }) else {
            return
        }
        let patterns = Self.patterns(properties["Patterns"])
        guard properties["Type"]?.stringValue == "or_patterns", !patterns.isEmpty,
            monitors.count < DaemonLimits.monitors
        else { return notify(key.client, path, "Release") }
        adapters[index].monitors.roots[key]?.append(AdvertisementMonitors.Monitor(path: path, patterns: patterns))
        listen(on: index)
        notify(key.client, path, "Activate")
    }

    /// The content of an `a(yyay)`.
    private static func patterns(_ value: DBusValue?) -> [MonitorPattern] {
        guard case .array(_, let items)? = value else { return [] }
        return items.compactMap { item in
            guard case .structure(let members) = item, members.count == 3, case .byte(let offset) = members[0],
                case .byte(let type) = members[1], let bytes = members[2].bytesValue
            else { return nil }
            return MonitorPattern(offset: Int(offset), type: type, bytes: bytes)
        }
    }

    private mutating func notify(
        _ client: String, _ path: ObjectPath, _ member: String, _ arguments: [DBusValue] = []
    ) {
        request(
            .ignored, of: client, path, Self.monitorInterface, member, arguments,
            deadline: configuration.applicationDeadline)
    }

    /// The first packet of a device that a monitor waits for.
    mutating func showToMonitors(_ discovery: Discovery, on index: Int) {
        guard adapters[index].monitors.isActive, let device = adapters[index].devices[discovery.peer] else { return }
        for (key, monitors) in adapters[index].monitors.roots {
            for (position, monitor) in monitors.enumerated()
            where monitor.patterns.contains(where: { $0.matches(discovery.advertisement) }) {
                guard
                    adapters[index].monitors.roots[key]?[position].found.insert(discovery.peer).inserted == true
                else { continue }
                notify(key.client, monitor.path, "DeviceFound", [.objectPath(device.path)])
            }
        }
    }

    /// A device is forgotten, or the adapter is switched off: monitors lose the device.
    ///
    /// Source: BlueZ, `src/adv_monitor.c`, `btd_adv_monitor_power_down`.
    mutating func monitorsLose(_ peer: PeerID, _ device: ObjectPath, on index: Int) {
        for (key, monitors) in adapters[index].monitors.roots {
            for (position, monitor) in monitors.enumerated() where monitor.found.contains(peer) {
                adapters[index].monitors.roots[key]?[position].found.remove(peer)
                notify(key.client, monitor.path, "DeviceLost", [.objectPath(device)])
            }
        }
    }

    mutating func forgetMonitors(of client: String, on index: Int) {
        adapters[index].monitors.roots = adapters[index].monitors.roots.filter { $0.key.client != client }
        listen(on: index)
    }

    /// The adapter is gone.
    mutating func releaseMonitors(on index: Int) {
        for (key, monitors) in adapters[index].monitors.roots {
            for monitor in monitors { notify(key.client, monitor.path, "Release") }
        }
        adapters[index].monitors = AdvertisementMonitors()
    }
}
#endif
