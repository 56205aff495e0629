#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// A client that reports the battery levels of an adapter's devices, with objects below a root.
struct BatteryProvider: Hashable, Sendable {
    static let interface = "org.bluez.BatteryProvider1"

    let adapter: Int
    let root: ClientObject
}

/// The batteries that clients provide for devices, and the last levels of all batteries.
struct Batteries: Sendable {
    var providers: Set<BatteryProvider> = []
    /// The clients' objects, by the paths of the devices that have a battery from a client.
    var provided: [ObjectPath: (provider: BatteryProvider, object: ObjectPath)] = [:]
    /// The filters, by the paths of the devices.
    var filters: [ObjectPath: BatteryFilter] = [:]
}

/// Source: BlueZ, `src/battery.c`, `doc/org.bluez.BatteryProviderManager.rst`.
extension DaemonContext {
    mutating func handleBatteryProviderCall(_ call: ClientCall, on adapter: Int) throws(DBusError) {
        let provider = BatteryProvider(adapter: adapter, root: try call.namedObject())
        guard call.member == "RegisterBatteryProvider" else {
            guard batteries.providers.contains(provider) else { throw BlueZError.noProvider }
            removeProvider(provider)
            return answer(call.id)
        }
        // The provider of any client.
        let isTaken = batteries.providers.contains { $0.adapter == adapter && $0.root.path == provider.root.path }
        guard !isTaken else { throw BlueZError.providerExists }
        let count = batteries.providers.count { $0.adapter == adapter && $0.root.client == call.sender }
        guard count < DaemonLimits.batteryProviders else {
            throw BlueZError.notPermitted("Maximum battery providers reached")
        }
        batteries.providers.insert(provider)
        output(.watch(client: call.sender))
        answer(call.id)
        request(.batteries(provider), of: provider.root, StandardInterface.objectManager.name, "GetManagedObjects")
    }

    // MARK: Ends

    mutating func forgetBatteryProviders(of client: String) {
        for provider in batteries.providers where provider.root.client == client { removeProvider(provider) }
    }

    /// Removes the battery providers of an adapter that is gone.
    mutating func removeBatteryProviders(on adapter: Int) {
        for provider in batteries.providers where provider.adapter == adapter { removeProvider(provider) }
    }

    private mutating func removeProvider(_ provider: BatteryProvider) {
        batteries.providers.remove(provider)
        removeBatteries { $0.provider == provider }
    }

    fileprivate mutating func removeBatteries(
        where isMeant: ((provider: BatteryProvider, object: ObjectPath)) -> Bool
    ) {
        for path in batteries.provided.filter({ isMeant($0.value) }).keys.sorted() { removeBattery(at: path) }
    }
}

// The objects of battery providers.
extension BluetoothDaemon {
    /// Adds the batteries that a client had exported when it registered their root.
    mutating func batteriesRead(_ provider: BatteryProvider, _ result: Result<[DBusValue], DBusError>) {
        guard case .success(let values) = result else { return }
        for (path, interfaces) in ApplicationDescription.objects(in: values.first) {
            if let properties = interfaces[BatteryProvider.interface] { add(path, properties, of: provider) }
        }
    }

    /// Adds a battery that a client exports below a registered root.
    mutating func batteryAdded(_ path: ObjectPath, _ properties: [String: DBusValue], _ signal: ClientSignal) {
        for provider in providers(of: signal) { add(path, properties, of: provider) }
    }

    mutating func batteryChanged(_ signal: ClientSignal) {
        let changed = signal.arguments.dropFirst().first?.propertiesValue ?? [:]
        let isGone = signal.arguments.last?.stringsValue?.contains("Percentage") == true
        // A level that the client invalidates counts as zero.
        guard let level = Self.level(in: changed) ?? (isGone ? 0 : nil) else { return }
        for (path, battery) in context.batteries.provided
        where battery.object == signal.path && battery.provider.root.client == signal.sender {
            context.setBatteryLevel(level, at: path)
        }
    }

    /// Removes a battery whose object the client withdrew.
    mutating func batteryRemoved(_ object: ObjectPath, _ signal: ClientSignal) {
        for provider in providers(of: signal) {
            context.removeBatteries { $0.provider == provider && $0.object == object }
        }
    }

    private static func level(in properties: [String: DBusValue]) -> UInt8? {
        if case .byte(let level)? = properties["Percentage"] { level } else { nil }
    }

    private func providers(of signal: ClientSignal) -> [BatteryProvider] {
        context.batteries.providers.filter { $0.root == signal.object }
    }

    /// Shows a battery if its device is not temporary and has no other battery.
    private mutating func add(_ object: ObjectPath, _ properties: [String: DBusValue], of provider: BatteryProvider) {
        guard context.batteries.providers.contains(provider), let path = properties["Device"]?.pathValue,
            adapters[provider.adapter].device(at: path)?.isTemporary == false,
            !context.tree.has(BlueZInterfaces.battery, at: path)
        else { return }
        context.batteries.provided[path] = (provider, object)
        context.addBattery(source: properties["Source"]?.stringValue, at: path)
        if let level = Self.level(in: properties) { context.setBatteryLevel(level, at: path) }
    }
}
#endif
