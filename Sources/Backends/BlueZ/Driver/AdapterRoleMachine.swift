#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The pure part of a role on one adapter: central or peripheral.
///
/// Extensions implement what both roles share: the adapter and its state, L2CAP channels, and the need for pairing.
protocol AdapterRoleMachine: RoleMachine, ChannelOwner where Manager: AdapterRoleManager {
    var watch: AdapterWatch { get set }

    /// Selects the adapter again, and reports a changed state.
    mutating func updateState()

    /// Whether the role needs to be paired with the device at a path.
    func needsPairing(with device: ObjectPath) -> Bool
}

/// The state that a role keeps for one of its managers.
protocol AdapterRoleManager: Sendable {
    /// The last delivered state of the adapter; nil before the first.
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
    /// The adapter's state, as reported to the managers.
    var state: AdapterState { watch.state }

    /// The known devices of the adapter.
    var directory: PeerDirectory { watch.directory }

    /// Whether an object is below the adapter in use.
    ///
    /// BlueZ pitfall: the text of `hci10` begins with `hci1`, too (https://github.com/hbldh/bleak/issues/2012), so
    /// paths are compared by their elements.
    func isOurs(_ path: ObjectPath) -> Bool {
        watch.adapter.map { path.isBelow($0) } ?? false
    }

    /// Follows a phase of the daemon; the state of the adapter of a new daemon follows from its snapshot.
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

    /// Handles that the adapter is no longer expected to return.
    mutating func adapterReturnTimedOut() {
        watch.adapterReturnTimedOut()
        updateState()
    }

    /// Selects the adapter again.
    ///
    /// - Returns: The old state, if the state has changed.
    mutating func changeState() -> AdapterState? {
        watch.choose(in: objects)
        startWait()
        if watch.adapter != nil { stop(.adapterReturn) }
        return watch.changeState(objects.adapters)
    }

    /// Stops all timers except the one of an adapter that is expected to return.
    mutating func stopTimers() {
        for timer in outputs.timers where timer != .adapterReturn { stop(timer) }
    }

    private mutating func startWait() {
        if let wait = watch.takeWait() { start(.adapterReturn, wait) }
    }

    /// Delivers the state to a manager that has not received it.
    ///
    /// An unknown state is not delivered: the first event is the first definite state.
    ///
    /// - Parameter beforeFirst: Called before a manager's first state.
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
    /// Reports whether the role needs pairing.
    ///
    /// BlueZ pitfall: the kernel takes a link's capability when the link begins, so the agent must precede `Connect`.
    mutating func pairingNeedChanged(to isNeeded: Bool) {
        guard isNeeded != outputs.mayNeedPairing else { return }
        outputs.mayNeedPairing = isNeeded
        outputs.effects.insert(.pairingNeedChanged(isNeeded), at: isNeeded ? 0 : outputs.effects.endIndex)
    }
}
#endif
