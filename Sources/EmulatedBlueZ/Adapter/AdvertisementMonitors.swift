#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The root path below which a client exports monitors.
struct MonitorRootKey: Hashable, Sendable {
    let client: String
    let root: ObjectPath
}

/// A monitor of a client.
struct MonitorKey: Hashable, Sendable {
    let root: MonitorRootKey
    let path: ObjectPath
}

/// The advertisement monitors of clients, which receive reports of devices while no client discovers.
struct AdvertisementMonitors: Sendable {
    struct Monitor: Sendable {
        let path: ObjectPath
        let patterns: [MonitorPattern]
        let thresholds: MonitorThresholds?
        var devices: [PeerID: MonitoredDevice] = [:]

        /// Records a packet that matches; does nothing for a new device if the limit of devices is reached.
        mutating func hear(
            _ discovery: Discovery, at now: Duration
        ) -> (change: MonitoredDevice.Change?, isReported: Bool) {
            if devices[discovery.peer] == nil, devices.count >= DaemonLimits.monitoredDevices {
                devices = devices.filter { device in
                    device.value.isFound || now - device.value.lastPacket <= thresholds?.highTimeout ?? .zero
                }
                guard devices.count < DaemonLimits.monitoredDevices else { return (nil, false) }
            }
            return devices[discovery.peer, default: MonitoredDevice()].hear(discovery.rssi, thresholds, at: now)
        }
    }

    /// The effect of a packet on the monitors.
    struct Hearing: Sendable {
        var isReported = false
        var changes: [(monitor: MonitorKey, change: MonitoredDevice.Change)] = []
    }

    var roots: [MonitorRootKey: [Monitor]] = [:]

    var isActive: Bool { roots.values.contains { !$0.isEmpty } }

    mutating func hear(_ discovery: Discovery, at now: Duration) -> Hearing {
        var hearing = Hearing()
        for (key, monitors) in roots {
            for (position, monitor) in monitors.enumerated()
            where monitor.patterns.contains(where: { $0.matches(discovery.advertisement) }) {
                guard let (change, isReported) = roots[key]?[position].hear(discovery, at: now) else { continue }
                if isReported { hearing.isReported = true }
                if let change { hearing.changes.append((MonitorKey(root: key, path: monitor.path), change)) }
            }
        }
        return hearing
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
            guard let monitors = adapters[index].monitors.roots.removeValue(forKey: key) else {
                throw BlueZError.doesNotExist
            }
            for monitor in monitors { notify(key.client, monitor.path, "Release") }
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

    // MARK: Objects

    /// Adds the monitors that a client had exported when it registered their root.
    mutating func monitorRead(_ key: MonitorRootKey, _ result: Result<[DBusValue], DBusError>, on index: Int) {
        guard case .success(let values) = result else { return }
        for (path, interfaces) in ApplicationDescription.objects(in: values.first) {
            if let properties = interfaces[Self.monitorInterface] { add(path, properties, key, on: index) }
        }
    }

    /// Adds a monitor that a client exports below a registered root.
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

    /// Removes a monitor whose object the client withdrew, without a call of `Release`.
    mutating func monitorRemoved(_ path: ObjectPath, of client: String) {
        for index in adapters.indices {
            for key in adapters[index].monitors.roots.keys where key.client == client {
                adapters[index].monitors.roots[key]?.removeAll { $0.path == path }
            }
            listen(on: index)
        }
    }

    /// Activates a monitor, or releases an invalid one.
    private mutating func add(
        _ path: ObjectPath, _ properties: [String: DBusValue], _ key: MonitorRootKey, on index: Int
    ) {
        guard let monitors = adapters[index].monitors.roots[key], !monitors.contains(where: { $0.path == path }) else {
            return
        }
        do throws(DBusError) {
            guard properties["Type"]?.stringValue == "or_patterns",
                let patterns = MonitorPattern.patterns(properties["Patterns"]), monitors.count < DaemonLimits.monitors
            else { throw BlueZError.invalidArguments }
            let thresholds = try MonitorThresholds.thresholds(properties)
            adapters[index].monitors.roots[key]?.append(
                AdvertisementMonitors.Monitor(path: path, patterns: patterns, thresholds: thresholds))
        } catch {
            // The client receives no reason, as from bluetoothd.
            return notify(key.client, path, "Release")
        }
        listen(on: index)
        notify(key.client, path, "Activate")
    }

    private mutating func notify(
        _ client: String, _ path: ObjectPath, _ member: String, _ arguments: [DBusValue] = []
    ) {
        request(
            .ignored, of: client, path, Self.monitorInterface, member, arguments,
            deadline: configuration.applicationDeadline)
    }

    // MARK: Devices

    /// Reports a device that monitors found or lost; the device's object already shows the packet.
    mutating func showToMonitors(_ hearing: AdvertisementMonitors.Hearing, _ peer: PeerID, on index: Int) {
        for (key, change) in hearing.changes {
            show(change, of: peer, to: key, on: index)
            guard change == .found,
                let timeout = adapters[index].monitors[key]?.thresholds?.lowTimeout
            else { continue }
            let number = nextNumber()
            adapters[index].monitors[key]?.devices[peer]?.timer = number
            output(.schedule(.monitored(adapter: index, key, peer, number), after: timeout))
        }
    }

    private mutating func show(
        _ change: MonitoredDevice.Change, of peer: PeerID, to key: MonitorKey, on index: Int
    ) {
        guard let device = adapters[index].devices[peer] else { return }
        notify(
            key.root.client, key.path, change == .found ? "DeviceFound" : "DeviceLost", [.objectPath(device.path)])
    }

    /// Reports a monitored device as lost if its timeout has passed, or schedules the next check.
    mutating func monitoredTimePassed(_ key: MonitorKey, _ peer: PeerID, _ number: UInt64, on index: Int) {
        guard let monitor = adapters[index].monitors[key], let timeout = monitor.thresholds?.lowTimeout,
            let device = monitor.devices[peer], device.timer == number
        else { return }
        let left = device.lastPacket + timeout - now
        guard left <= .zero else {
            return output(.schedule(.monitored(adapter: index, key, peer, number), after: left))
        }
        adapters[index].monitors[key]?.devices[peer]?.lose()
        show(.lost, of: peer, to: key, on: index)
    }

    /// Reports a device as lost to all monitors, because it is forgotten or the adapter is switched off.
    ///
    /// Source: BlueZ, `src/adv_monitor.c`, `btd_adv_monitor_power_down`.
    mutating func monitorsLose(_ peer: PeerID, _ device: ObjectPath, on index: Int) {
        for (key, monitors) in adapters[index].monitors.roots {
            for (position, monitor) in monitors.enumerated() {
                adapters[index].monitors.roots[key]?[position].devices[peer] = nil
                guard monitor.devices[peer]?.isFound == true else { continue }
                notify(key.client, monitor.path, "DeviceLost", [.objectPath(device)])
            }
        }
    }

    mutating func forgetMonitors(of client: String, on index: Int) {
        adapters[index].monitors.roots = adapters[index].monitors.roots.filter { $0.key.client != client }
        listen(on: index)
    }

    /// Releases all monitors of an adapter that is gone.
    mutating func releaseMonitors(on index: Int) {
        for (key, monitors) in adapters[index].monitors.roots {
            for monitor in monitors { notify(key.client, monitor.path, "Release") }
        }
        adapters[index].monitors = AdvertisementMonitors()
    }
}

extension AdvertisementMonitors {
    /// The monitor with a key; nil if it has been removed.
    subscript(key: MonitorKey) -> Monitor? {
        get { roots[key.root]?.first { $0.path == key.path } }
        set {
            guard let newValue, let position = roots[key.root]?.firstIndex(where: { $0.path == key.path }) else {
                return
            }
            roots[key.root]?[position] = newValue
        }
    }
}
#endif
