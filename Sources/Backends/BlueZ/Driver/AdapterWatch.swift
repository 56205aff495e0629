#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The adapter that a role uses, and the resulting state.
///
/// Pure. The adapters themselves are in the daemon's ``ObjectModel``.
///
/// A chosen adapter is identified by its address, because its number may change when it returns.
struct AdapterWatch: Sendable {
    private let selector: AdapterSelector
    let timings: BlueZTimings
    /// Whether an adapter supports the role.
    private let isSuitable: @Sendable (Adapter1) -> Bool
    private(set) var daemon = DaemonPhase.probing
    private(set) var adapter: ObjectPath?
    private(set) var address: String?
    /// The last computed state of the adapter.
    private(set) var state = AdapterState.unknown
    /// The known devices of the adapter.
    private(set) var directory = PeerDirectory(adapterAddress: "")
    /// The number of devices out of reach to remember; nil until a manager has set it.
    private var rememberedPeers: Int?
    /// Whether a missing adapter is expected to return.
    private var isReturnExpected = false
    /// The duration of a wait that must be started; see ``takeWait()``.
    private var wait: Duration?

    init(_ selector: AdapterSelector, _ timings: BlueZTimings, isSuitable: @escaping @Sendable (Adapter1) -> Bool) {
        self.selector = selector
        self.timings = timings
        self.isSuitable = isSuitable
    }

    /// The number of devices out of reach to remember.
    var peerLimit: Int { rememberedPeers ?? RoleOptions.defaultRememberedPeers }

    /// Raises the number of remembered devices to at least `limit`.
    mutating func remember(atLeast limit: Int) {
        rememberedPeers = max(rememberedPeers ?? 1, limit)
        directory.remember(atLeast: limit)
    }

    /// Returns the duration of the timer that must be started, if any; it ends in ``adapterReturnTimedOut()``.
    mutating func takeWait() -> Duration? { wait.take() }

    // MARK: Daemon and adapters

    mutating func daemonChanged(_ phase: DaemonPhase) {
        // The phase is reported again with each snapshot.
        if phase == .ready, daemon == .ready { return }
        daemon = phase
        if phase != .ready { adapter = nil }
        switch phase {
        case .lost: if !isReturnExpected { expectAdapter(within: timings.daemonReturnTimeout) }
        case .absent where isReturnExpected: break
        case .probing, .absent, .denied: isReturnExpected = false
        // A daemon that was just started finds its adapters after a moment.
        case .ready:
            if adapter == nil {
                expectAdapter(within: address == nil ? timings.initialAdapterTimeout : timings.adapterReturnTimeout)
            }
        }
    }

    /// Keeps the adapter, or selects one.
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

    /// Begins to expect the adapter, which may have been unplugged or reset, alone or with the daemon.
    private mutating func expectAdapter(within delay: Duration) {
        isReturnExpected = true
        wait = delay
    }

    private func candidate(among adapters: [ObjectPath: Adapter1]) -> ObjectPath? {
        // By length first, so that hci2 precedes hci10.
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
            // Another adapter is selected only when this one is no longer expected.
            if isReturnExpected { return nil }
        }
        return first { $0.isPowered && isSuitable($0) } ?? first(isSuitable) ?? paths.first
    }

    // MARK: Outcome

    /// Computes the state.
    ///
    /// - Returns: The old state, if the state has changed.
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
        // BlueZ pitfall: an adapter that rfkill blocks cannot be powered on
        // (https://github.com/bluez/bluez/issues/213). It counts as off, and only the user can change that.
        return object.isPowered ? .poweredOn : .poweredOff
    }

    /// Returns the wait of an ended link or session for an event that would explain its end.
    ///
    /// - Parameter usual: The wait if no loss of power is announced.
    func waitForExplanation(_ adapters: [ObjectPath: Adapter1], usually usual: Duration) -> Duration {
        adapter.flatMap { adapters[$0] }?.isTurningOff == true ? timings.turningOff : usual
    }
}
#endif
