#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Which adapter a role uses, and the state that follows.
///
/// Pure. The adapters themselves are in the daemon's ``ObjectModel``.
///
/// An adapter, once chosen, is kept by its address: its number may change when it comes back.
struct AdapterWatch: Sendable {
    private let selector: AdapterSelector
    let timings: BlueZTimings
    /// Whether an adapter can play the role.
    private let isSuitable: @Sendable (Adapter1) -> Bool
    private(set) var daemon = DaemonPhase.probing
    private(set) var adapter: ObjectPath?
    private(set) var address: String?
    /// The adapter's state, as it was computed last.
    private(set) var state = AdapterState.unknown
    /// The devices that are known on the adapter.
    private(set) var directory = PeerDirectory(adapterAddress: "")
    /// How many devices out of reach are remembered; nil before a manager said so.
    private var rememberedPeers: Int?
    /// Whether an adapter that is not there is expected back.
    private var isReturnExpected = false
    /// How long to wait for what is expected back, where that has to begin anew; see ``takeWait()``.
    private var wait: Duration?

    init(_ selector: AdapterSelector, _ timings: BlueZTimings, isSuitable: @escaping @Sendable (Adapter1) -> Bool) {
        self.selector = selector
        self.timings = timings
        self.isSuitable = isSuitable
    }

    /// How many devices out of reach are remembered.
    var peerLimit: Int { rememberedPeers ?? RoleOptions.defaultRememberedPeers }

    /// Remembers so many devices that are out of reach, or more if another manager wants that.
    mutating func remember(atLeast limit: Int) {
        rememberedPeers = max(rememberedPeers ?? 1, limit)
        directory.remember(atLeast: limit)
    }

    /// For how long to start the timer that ends in ``adapterReturnTimedOut()``, if it has to be.
    mutating func takeWait() -> Duration? {
        defer { wait = nil }
        return wait
    }

    // MARK: Daemon and adapters

    mutating func daemonChanged(_ phase: DaemonPhase) {
        // It is reported again with each snapshot.
        if phase == .ready, daemon == .ready { return }
        daemon = phase
        if phase != .ready { adapter = nil }
        switch phase {
        case .lost: if !isReturnExpected { expectAdapter(within: timings.daemonReturnTimeout) }
        case .absent where isReturnExpected: break
        case .probing, .absent, .denied: isReturnExpected = false
        // A daemon that was just started finds its adapters a little later.
        case .ready:
            if adapter == nil {
                expectAdapter(within: address == nil ? timings.initialAdapterTimeout : timings.adapterReturnTimeout)
            }
        }
    }

    /// Keeps to the adapter, or chooses one.
    mutating func choose(in objects: ObjectModel) {
        guard daemon == .ready else { return }
        if let adapter, objects.adapters[adapter] == nil {
            self.adapter = nil
            expectAdapter(within: timings.adapterReturnTimeout)
        }
        guard let path = adapter ?? candidate(among: objects.adapters), let object = objects.adapters[path] else {
            return
        }
        if adapter == nil {
            isReturnExpected = false
            wait = nil
            adapter = path
        }
        guard address != object.address else { return }
        address = object.address
        directory = objects.directory(of: object.address)
        if let rememberedPeers { directory.remember(atLeast: rememberedPeers) }
    }

    mutating func adapterReturnTimedOut() { isReturnExpected = false }

    /// The adapter may have been unplugged, or reset, alone or with the daemon.
    private mutating func expectAdapter(within delay: Duration) {
        isReturnExpected = true
        wait = delay
    }

    private func candidate(among adapters: [ObjectPath: Adapter1]) -> ObjectPath? {
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
            if isReturnExpected { return nil }
        }
        return first { $0.isPowered && isSuitable($0) } ?? first(isSuitable) ?? paths.first
    }

    // MARK: Outcome

    /// Computes the state.
    ///
    /// - Returns: The state before, if it is another one now.
    mutating func changeState(_ adapters: [ObjectPath: Adapter1]) -> AdapterState? {
        let (old, new) = (state, state(of: adapters))
        state = new
        return old == new ? nil : old
    }

    private func state(of adapters: [ObjectPath: Adapter1]) -> AdapterState {
        switch daemon {
        case .probing: return .unknown
        case .denied: return .unauthorized
        case .absent, .lost: return isReturnExpected ? .resetting : .unsupported
        case .ready: break
        }
        guard let object = adapter.flatMap({ adapters[$0] }) else {
            guard isReturnExpected else { return .unsupported }
            return address == nil ? .unknown : .resetting
        }
        guard isSuitable(object) else { return .unsupported }
        // BlueZ pitfall: an adapter that rfkill blocks cannot be switched on
        // (https://github.com/bluez/bluez/issues/213). It is off, and switching is the user's business.
        return object.isPowered ? .poweredOn : .poweredOff
    }

    /// How long something that has ended waits for an event that would explain it.
    ///
    /// - Parameter usual: How long where no loss of power is announced.
    func waitForExplanation(_ adapters: [ObjectPath: Adapter1], usually usual: Duration) -> Duration {
        adapter.flatMap { adapters[$0] }?.isTurningOff == true ? timings.turningOff : usual
    }
}
#endif
