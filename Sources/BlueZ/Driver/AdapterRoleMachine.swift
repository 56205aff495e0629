#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The pure part of a role that a manager has on one adapter: central or peripheral.
///
/// Extensions implement what both share: following the adapter and its state, L2CAP channels, and the need for pairing.
protocol AdapterRoleMachine: RoleMachine
where Manager: AdapterRoleManager, Input: AdapterRoleInput, Effect: AdapterRoleEffect {
    /// The type of ``OpenChannel/origin``.
    associatedtype ChannelOrigin: Equatable & Sendable

    var watch: AdapterWatch { get set }
    /// The open L2CAP channels.
    var channels: [ChannelID: OpenChannel<ChannelOrigin>] { get set }

    /// Chooses the adapter anew, and reports a state that differs.
    mutating func updateState()

    /// Whether the role needs to be paired with the device at a path.
    func needsPairing(with device: ObjectPath) -> Bool
}

/// The state that a role keeps for one of its managers.
protocol AdapterRoleManager: Sendable {
    /// The adapter's state that was delivered last; nil before the first one.
    var state: AdapterState? { get set }
}

/// The inputs of either role.
protocol AdapterRoleInput: RoleInput where Event: AdapterRoleEvent, Timer: AdapterRoleTimer {
    static func channelEnded(_ channel: ChannelID) -> Self
}

/// The effects of either role.
protocol AdapterRoleEffect: RoleEffect {
    static func channel(_ channel: ChannelID, _ action: ChannelPool.Action) -> Self
    static func pairingNeedChanged(_ isNeeded: Bool) -> Self
}

/// The events of either role.
protocol AdapterRoleEvent: Sendable {
    static func stateChanged(_ state: AdapterState) -> Self
    static func authorizationChanged(_ authorization: AuthorizationStatus) -> Self
    static func channel(_ channel: ChannelID, _ event: ChannelEvent) -> Self
}

/// The timers of either role.
protocol AdapterRoleTimer: Hashable, Sendable {
    static var adapterReturn: Self { get }
}

extension CentralEvent: AdapterRoleEvent {}
extension PeripheralEvent: AdapterRoleEvent {}

// MARK: - Adapter and state

extension AdapterRoleMachine {
    /// The adapter's state, as it is reported to the managers.
    var state: AdapterState { watch.state }

    /// The devices that are known on the adapter.
    var directory: PeerDirectory { watch.directory }

    /// Whether an object is below the adapter in use.
    ///
    /// BlueZ pitfall: `hci1` begins the text of `hci10`, too (https://github.com/hbldh/bleak/issues/2012); paths are
    /// compared by their elements.
    func isOurs(_ path: ObjectPath) -> Bool {
        watch.adapter.map { path.isBelow($0) } ?? false
    }

    /// Follows a phase of the daemon; the state of an adapter whose daemon has just come follows from its snapshot.
    mutating func daemonChanged(_ phase: DaemonPhase) {
        let wasDenied = watch.daemon == .denied
        watch.daemonChanged(phase)
        if wasDenied != (phase == .denied) {
            for manager in managers.keys.sorted() {
                deliver(manager, .authorizationChanged(phase == .denied ? .denied : .allowed))
            }
        }
        if phase == .ready { startWait() } else { updateState() }
    }

    /// The adapter is expected back no longer.
    mutating func adapterReturnTimedOut() {
        watch.adapterReturnTimedOut()
        updateState()
    }

    /// Chooses the adapter anew.
    ///
    /// - Returns: The state before, if it is another one now.
    mutating func changeState() -> AdapterState? {
        watch.choose(in: objects)
        startWait()
        if watch.adapter != nil { stop(.adapterReturn) }
        return watch.changeState(objects.adapters)
    }

    /// Stops all timers but the one of an adapter that is expected back.
    mutating func stopTimers() {
        for timer in outputs.timers where timer != .adapterReturn { stop(timer) }
    }

    private mutating func startWait() {
        if let wait = watch.takeWait() { start(.adapterReturn, wait) }
    }

    /// Delivers a state to a manager that does not have it.
    ///
    /// An unknown state is not delivered: the first event is the first definite state.
    ///
    /// - Parameter beforeFirst: What a manager receives before its first state.
    mutating func deliverState(to manager: HostLedger.Manager, beforeFirst: (inout Self) -> Void = { _ in }) {
        let state = state
        guard state != .unknown, managers[manager]?.state != state else { return }
        if managers[manager]?.state == nil { beforeFirst(&self) }
        managers[manager]?.state = state
        deliver(manager, .stateChanged(state))
    }
}

// MARK: - Pairing

extension AdapterRoleMachine {
    /// Says where the role begins to need pairing, or needs it no longer.
    ///
    /// BlueZ pitfall: the kernel takes a link's capability when the link begins, so the agent comes before `Connect`.
    mutating func pairingNeedChanged(to isNeeded: Bool) {
        guard isNeeded != outputs.mayNeedPairing else { return }
        outputs.mayNeedPairing = isNeeded
        outputs.effects.insert(.pairingNeedChanged(isNeeded), at: isNeeded ? 0 : outputs.effects.endIndex)
    }
}
#endif
