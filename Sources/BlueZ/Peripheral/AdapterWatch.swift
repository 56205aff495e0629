#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Which adapter a role uses, and the state that follows.
///
/// Pure.
///
/// An adapter, once chosen, is kept by its address: its number may change when it comes back.
struct AdapterWatch: Sendable {
    private let selector: AdapterSelector
    private let timings: BlueZTimings
    private var adapters: [ObjectPath: Adapter1] = [:]
    private(set) var daemon = DaemonPhase.probing
    private(set) var adapter: ObjectPath?
    private(set) var address: String?
    private var isComebackExpected = false
    /// How long to wait for what is expected back, where that has to begin anew; see ``takeWait()``.
    private var wait: Duration?

    init(_ selector: AdapterSelector, _ timings: BlueZTimings) {
        self.selector = selector
        self.timings = timings
    }

    /// The adapter's properties.
    var properties: Adapter1? { adapter.flatMap { adapters[$0] } }

    /// Whether there is an adapter that can be a peripheral.
    var supportsPeripheral: Bool { properties?.supportsPeripheral == true }

    /// For how long to start the timer that ends in ``comebackOver()``, if it has to be.
    mutating func takeWait() -> Duration? {
        defer { wait = nil }
        return wait
    }

    // MARK: News

    mutating func daemonChanged(_ phase: DaemonPhase) {
        daemon = phase
        if phase != .ready {
            adapters = [:]
            adapter = nil
        }
        switch phase {
        case .lost: if !isComebackExpected { expectComeback(within: timings.daemonComeback) }
        case .absent where isComebackExpected: break
        case .probing, .absent, .denied: isComebackExpected = false
        case .ready:
            if adapter == nil { expectComeback(within: address == nil ? timings.arrival : timings.comeback) }
        }
    }

    mutating func replace(with objects: [ObjectPath: ObjectTree.Interfaces]) {
        adapters = [:]
        for (path, interfaces) in objects { note(path, interfaces) }
        choose()
    }

    mutating func add(_ path: ObjectPath, _ interfaces: ObjectTree.Interfaces) {
        note(path, interfaces)
        choose()
    }

    mutating func change(_ path: ObjectPath, _ interface: String, _ values: [String: DBusValue], _ removed: [String]) {
        guard interface == Adapter1.interface, adapters[path] != nil else { return }
        _ = adapters[path]?.apply(values, removing: removed)
        choose()
    }

    mutating func remove(_ path: ObjectPath, _ interfaces: [String]) {
        guard interfaces.contains(Adapter1.interface) else { return }
        adapters[path] = nil
        choose()
    }

    mutating func comebackOver() {
        isComebackExpected = false
        choose()
    }

    private mutating func note(_ path: ObjectPath, _ interfaces: ObjectTree.Interfaces) {
        guard let values = interfaces[Adapter1.interface] else { return }
        _ = adapters[path, default: Adapter1()].apply(values)
    }

    // MARK: Outcome

    /// The state of the adapter for a role.
    func state(_ supports: (Adapter1) -> Bool) -> AdapterState {
        switch daemon {
        case .probing: return .unknown
        case .denied: return .unauthorized
        case .absent, .lost: return isComebackExpected ? .resetting : .unsupported
        case .ready: break
        }
        guard let properties else {
            guard isComebackExpected else { return .unsupported }
            return address == nil ? .unknown : .resetting
        }
        guard supports(properties) else { return .unsupported }
        return properties.isPowered ? .poweredOn : .poweredOff
    }

    private mutating func expectComeback(within delay: Duration) {
        isComebackExpected = true
        wait = delay
    }

    private mutating func choose() {
        guard daemon == .ready else { return }
        if let adapter, adapters[adapter] != nil { return }
        if adapter != nil {
            adapter = nil
            expectComeback(within: timings.comeback)
        }
        guard let path = candidate, let object = adapters[path] else { return }
        isComebackExpected = false
        wait = nil
        adapter = path
        address = object.address
    }

    private var candidate: ObjectPath? {
        // hci2 comes before hci10.
        let paths = adapters.keys.sorted { ($0.text.utf8.count, $0) < ($1.text.utf8.count, $1) }
        switch selector {
        case .name(let name): return paths.first { $0.lastElement == name }
        case .address(let address): return paths.first { adapters[$0]?.address == address }
        case .any: break
        }
        if let address {
            if let known = paths.first(where: { adapters[$0]?.address == address }) { return known }
            // It may come back; only then another one is taken.
            if isComebackExpected { return nil }
        }
        return paths.first { adapters[$0]?.isPowered == true && adapters[$0]?.supportsPeripheral == true }
            ?? paths.first { adapters[$0]?.supportsPeripheral == true } ?? paths.first
    }
}
#endif
