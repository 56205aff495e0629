#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Which adapter a role uses, and the state that follows.
///
/// Pure. The adapters themselves are its owner's, who passes them in.
///
/// An adapter, once chosen, is kept by its address: its number may change when it comes back.
struct AdapterWatch: Sendable {
    typealias Adapters = [ObjectPath: Adapter1]

    private let selector: AdapterSelector
    private let timings: BlueZTimings
    /// Whether an adapter can play the role.
    private let isSuitable: @Sendable (Adapter1) -> Bool
    private(set) var daemon = DaemonPhase.probing
    private(set) var adapter: ObjectPath?
    private(set) var address: String?
    /// Whether an adapter that is not there is expected back.
    private var isComebackExpected = false
    /// How long to wait for what is expected back, where that has to begin anew; see ``takeWait()``.
    private var wait: Duration?

    init(_ selector: AdapterSelector, _ timings: BlueZTimings, isSuitable: @escaping @Sendable (Adapter1) -> Bool) {
        self.selector = selector
        self.timings = timings
        self.isSuitable = isSuitable
    }

    /// For how long to start the timer that ends in ``comebackOver()``, if it has to be.
    mutating func takeWait() -> Duration? {
        defer { wait = nil }
        return wait
    }

    // MARK: News

    mutating func daemonChanged(_ phase: DaemonPhase) {
        // It is told of again with each snapshot.
        if phase == .ready, daemon == .ready { return }
        daemon = phase
        if phase != .ready { adapter = nil }
        switch phase {
        case .lost: if !isComebackExpected { expectAdapter(within: timings.daemonReturnTimeout) }
        case .absent where isComebackExpected: break
        case .probing, .absent, .denied: isComebackExpected = false
        // A daemon that was just started finds its adapters a little later.
        case .ready:
            if adapter == nil {
                expectAdapter(within: address == nil ? timings.initialAdapterTimeout : timings.adapterReturnTimeout)
            }
        }
    }

    /// Keeps to the adapter, or chooses one.
    mutating func choose(among adapters: Adapters) {
        guard daemon == .ready else { return }
        if let adapter, adapters[adapter] != nil { return }
        if adapter != nil {
            adapter = nil
            expectAdapter(within: timings.adapterReturnTimeout)
        }
        guard let path = candidate(among: adapters), let object = adapters[path] else { return }
        isComebackExpected = false
        wait = nil
        adapter = path
        address = object.address
    }

    mutating func comebackOver() { isComebackExpected = false }

    /// The adapter may have been unplugged, or reset, alone or with the daemon.
    private mutating func expectAdapter(within delay: Duration) {
        isComebackExpected = true
        wait = delay
    }

    private func candidate(among adapters: Adapters) -> ObjectPath? {
        // hci2 comes before hci10.
        let paths = adapters.keys.sorted { ($0.text.utf8.count, $0) < ($1.text.utf8.count, $1) }
        func first(_ condition: (Adapter1) -> Bool) -> ObjectPath? {
            paths.first { adapters[$0].map(condition) ?? false }
        }
        switch selector {
        case .name(let name): return paths.first { $0.lastElement == name }
        case .address(let address): return first { $0.address == address }
        case .any: break
        }
        if let address {
            if let known = first({ $0.address == address }) { return known }
            // It may come back; only then another one is taken.
            if isComebackExpected { return nil }
        }
        return first { $0.isPowered && isSuitable($0) } ?? first(isSuitable) ?? paths.first
    }

    // MARK: Outcome

    /// The state for the role.
    func state(of adapters: Adapters) -> AdapterState {
        switch daemon {
        case .probing: return .unknown
        case .denied: return .unauthorized
        case .absent, .lost: return isComebackExpected ? .resetting : .unsupported
        case .ready: break
        }
        guard let object = adapter.flatMap({ adapters[$0] }) else {
            guard isComebackExpected else { return .unsupported }
            return address == nil ? .unknown : .resetting
        }
        guard isSuitable(object) else { return .unsupported }
        // BlueZ pitfall: an adapter that rfkill blocks cannot be switched on
        // (https://github.com/bluez/bluez/issues/213). It is off, and switching is the user's business.
        return object.isPowered ? .poweredOn : .poweredOff
    }
}
#endif
