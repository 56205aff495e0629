#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// A monitor of a client.
struct MonitorKey: Hashable, Sendable {
    /// The object below which the client exports monitors.
    let root: ClientObject
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

    static let interface = "org.bluez.AdvertisementMonitor1"
    /// The properties of the manager's interface.
    static let managerProperties: ObjectTree.Properties = [
        "SupportedMonitorTypes": .strings(["or_patterns"]), "SupportedFeatures": .strings(["controller-patterns"]),
    ]

    /// The monitors, by the object below which the client exports them.
    var roots: [ClientObject: [Monitor]] = [:]

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

extension DaemonAdapter {
    mutating func handleMonitorCall(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        let key = try call.namedObject()
        guard call.member == "RegisterMonitor" else {
            guard let monitors = monitors.roots.removeValue(forKey: key) else { throw BlueZError.doesNotExist }
            for monitor in monitors { context.notify(MonitorKey(root: key, path: monitor.path), "Release") }
            listen(&context)
            return context.answer(call.id)
        }
        guard monitors.roots[key] == nil else { throw BlueZError.alreadyExists }
        let count = monitors.roots.keys.count { $0.client == call.sender }
        guard count < DaemonLimits.monitors else { throw BlueZError.notPermitted("Maximum monitors reached") }
        monitors.roots[key] = []
        context.output(.watch(client: call.sender))
        context.answer(call.id)
        context.request(
            .monitor(adapter: index, key), of: key, StandardInterface.objectManager.name, "GetManagedObjects")
    }

    // MARK: Objects

    /// Adds the monitors that a client had exported when it registered their root.
    mutating func monitorsRead(
        _ key: ClientObject, _ result: Result<[DBusValue], DBusError>, _ context: inout DaemonContext
    ) {
        guard case .success(let values) = result else { return }
        for (path, interfaces) in ApplicationDescription.objects(in: values.first) {
            if let properties = interfaces[AdvertisementMonitors.interface] { add(path, properties, key, &context) }
        }
    }

    /// Adds a monitor that a client exports below a registered root.
    mutating func monitorAdded(
        _ path: ObjectPath, _ properties: [String: DBusValue], of client: String, _ context: inout DaemonContext
    ) {
        for key in Array(monitors.roots.keys)
        where key.client == client && (path == key.path || path.isBelow(key.path)) {
            add(path, properties, key, &context)
        }
    }

    /// Removes a monitor whose object the client withdrew, without a call of `Release`.
    mutating func monitorRemoved(_ path: ObjectPath, of client: String, _ context: inout DaemonContext) {
        monitors.remove(path, of: client)
        listen(&context)
    }

    /// Activates a monitor, or releases an invalid one.
    private mutating func add(
        _ path: ObjectPath, _ properties: [String: DBusValue], _ root: ClientObject, _ context: inout DaemonContext
    ) {
        let key = MonitorKey(root: root, path: path)
        guard monitors.roots[root] != nil, monitors[key] == nil else { return }
        do throws(DBusError) {
            try monitors.add(path, properties, to: root)
        } catch {
            // The client receives no reason, as from bluetoothd.
            return context.notify(key, "Release")
        }
        listen(&context)
        context.notify(key, "Activate")
    }

    // MARK: Devices

    /// Reports a device that monitors found or lost; the device's object already shows the packet.
    mutating func showToMonitors(
        _ hearing: AdvertisementMonitors.Hearing, _ peer: PeerID, _ context: inout DaemonContext
    ) {
        for (key, change) in hearing.changes {
            show(change, of: peer, to: key, &context)
            guard change == .found, let timeout = monitors[key]?.thresholds?.lowTimeout else { continue }
            let number = context.nextNumber()
            monitors.setTimer(number, for: peer, of: key)
            context.output(.schedule(.monitored(adapter: index, key, peer, number), after: timeout))
        }
    }

    private func show(
        _ change: MonitoredDevice.Change, of peer: PeerID, to key: MonitorKey, _ context: inout DaemonContext
    ) {
        guard let device = devices[peer]?.path else { return }
        context.notify(key, change == .found ? "DeviceFound" : "DeviceLost", [.objectPath(device)])
    }

    /// Reports a monitored device as lost if its timeout has passed, or schedules the next check.
    mutating func monitoredTimePassed(
        _ key: MonitorKey, _ peer: PeerID, _ number: UInt64, _ context: inout DaemonContext
    ) {
        guard let monitor = monitors[key], let timeout = monitor.thresholds?.lowTimeout,
            let device = monitor.devices[peer], device.timer == number
        else { return }
        let left = device.lastPacket + timeout - context.now
        guard left <= .zero else {
            return context.output(.schedule(.monitored(adapter: index, key, peer, number), after: left))
        }
        monitors[key]?.devices[peer]?.lose()
        show(.lost, of: peer, to: key, &context)
    }

    mutating func forgetMonitors(of client: String, _ context: inout DaemonContext) {
        monitors.roots = monitors.roots.filter { $0.key.client != client }
        listen(&context)
    }
}

extension AdvertisementMonitors {
    /// - Throws: `InvalidArguments` for a monitor that `bluetoothd` releases at once.
    fileprivate mutating func add(
        _ path: ObjectPath, _ properties: [String: DBusValue], to key: ClientObject
    ) throws(DBusError) {
        guard properties["Type"]?.stringValue == "or_patterns",
            let patterns = MonitorPattern.patterns(properties["Patterns"]),
            roots[key, default: []].count < DaemonLimits.monitors
        else { throw BlueZError.invalidArguments }
        let thresholds = try MonitorThresholds.thresholds(properties)
        roots[key, default: []].append(Monitor(path: path, patterns: patterns, thresholds: thresholds))
    }

    fileprivate mutating func remove(_ path: ObjectPath, of client: String) {
        for key in Array(roots.keys) where key.client == client { roots[key]?.removeAll { $0.path == path } }
    }

    fileprivate mutating func setTimer(_ number: UInt64, for peer: PeerID, of key: MonitorKey) {
        self[key]?.devices[peer]?.timer = number
    }

    /// Reports a device as lost to all monitors, because it is forgotten or the adapter is switched off.
    ///
    /// Source: BlueZ, `src/adv_monitor.c`, `btd_adv_monitor_power_down`.
    mutating func lose(_ peer: PeerID, _ device: ObjectPath, _ context: inout DaemonContext) {
        for (key, monitors) in roots {
            for (position, monitor) in monitors.enumerated() {
                roots[key]?[position].devices[peer] = nil
                guard monitor.devices[peer]?.isFound == true else { continue }
                context.notify(MonitorKey(root: key, path: monitor.path), "DeviceLost", [.objectPath(device)])
            }
        }
    }

    /// Releases all monitors of an adapter that is gone.
    mutating func releaseAll(_ context: inout DaemonContext) {
        for (key, monitors) in roots {
            for monitor in monitors { context.notify(MonitorKey(root: key, path: monitor.path), "Release") }
        }
        self = AdvertisementMonitors()
    }

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

extension DaemonContext {
    /// Calls a method of a client's monitor.
    fileprivate mutating func notify(_ monitor: MonitorKey, _ member: String, _ arguments: [DBusValue] = []) {
        let object = ClientObject(client: monitor.root.client, path: monitor.path)
        request(.ignored, of: object, AdvertisementMonitors.interface, member, arguments)
    }
}
#endif
