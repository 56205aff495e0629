#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// The pure part of a role: inputs go in, effects come out.
///
/// What both roles do alike is here: the adapter and its state, calls, timers, deliveries.
protocol RoleMachine: Sendable {
    associatedtype Input: RoleMachineInput
    associatedtype Effect: RoleEffect where Effect.Event == Input.Event, Effect.Timer == Input.Timer
    /// Why a call was made.
    associatedtype CallPurpose: Sendable
    /// A manager that was activated.
    associatedtype Manager: RoleManager

    var objects: ObjectModel { get }
    var watch: AdapterWatch { get set }
    var managers: [HostLedger.Manager: Manager] { get set }
    var outputs: RoleOutputs<Effect, CallPurpose> { get set }

    /// Whether the role has to do with a change of the daemon's objects.
    static func concerns(_ change: ObjectModel.Change) -> Bool

    /// The manager of an open L2CAP channel.
    func owner(of channel: ChannelID) -> HostLedger.Manager?

    /// Handles one input.
    ///
    /// - Parameter date: The time of it, for events that carry one.
    /// - Returns: What to do, in this order.
    mutating func handle(_ input: Input, at date: Date) -> [Effect]
}

/// What a role knows of each of its managers.
protocol RoleManager: Sendable {
    /// The state that it was told.
    var state: AdapterState? { get set }
}

/// The inputs of either role.
protocol RoleMachineInput: Sendable {
    associatedtype Command: Sendable
    associatedtype Event: RoleEvent
    associatedtype Timer: RoleTimer

    static func daemon(_ event: DaemonEvent) -> Self
    static func reply(_ call: CallID, _ result: Result<[DBusValue], DBusError>) -> Self
    static func channelEnded(_ channel: ChannelID) -> Self
    static func timer(_ timer: Timer) -> Self
    static func activated(_ manager: HostLedger.Manager) -> Self
    static func command(_ manager: HostLedger.Manager, _ command: Command) -> Self
    static func invalidated(_ manager: HostLedger.Manager) -> Self
}

/// The events of either role.
protocol RoleEvent: Sendable {
    static func stateChanged(_ state: AdapterState) -> Self
    static func authorizationChanged(_ authorization: AuthorizationStatus) -> Self
    static func channel(_ channel: ChannelID, _ event: ChannelEvent) -> Self
}

/// The timers of either role.
protocol RoleTimer: Hashable, Sendable {
    static var adapterReturn: Self { get }
}

/// The effects of either role.
protocol RoleEffect: Sendable {
    associatedtype Event
    associatedtype Timer: RoleTimer

    static func call(_ id: CallID, _ call: MethodCall) -> Self
    static func deliver(_ manager: HostLedger.Manager, _ event: Event) -> Self
    static func startTimer(_ timer: Timer, _ delay: Duration) -> Self
    static func stopTimer(_ timer: Timer) -> Self
    static func pairingNeedChanged(_ isNeeded: Bool) -> Self
    static func log(_ message: LogMessage) -> Self
}

extension CentralEvent: RoleEvent {}
extension PeripheralEvent: RoleEvent {}
extension CentralTimer: RoleTimer {}
extension PeripheralTimer: RoleTimer {}
extension CentralRoleInput: RoleMachineInput { typealias Event = CentralEvent }
extension PeripheralRoleInput: RoleMachineInput { typealias Event = PeripheralEvent }
extension CentralRoleEffect: RoleEffect {}
extension PeripheralRoleEffect: RoleEffect {}

/// What a role machine puts out while it handles an input, and what it waits for.
struct RoleOutputs<Effect: RoleEffect, CallPurpose: Sendable>: Sendable {
    /// What to do, in this order.
    var effects: [Effect] = []
    var calls = CallTable<CallPurpose>()
    /// Timers that run.
    fileprivate(set) var timers: Set<Effect.Timer> = []
    /// Whether the last effect about pairing said that it may be needed.
    fileprivate(set) var mayNeedPairing = false

    /// A number that was not given before.
    mutating func newNumber() -> UInt64 { calls.newNumber() }

    /// Takes out the effects of the input that was handled.
    mutating func removeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }
}

// MARK: - Effects

extension RoleMachine {
    mutating func deliver(_ manager: HostLedger.Manager, _ event: Input.Event) {
        if managers[manager] != nil { outputs.effects.append(.deliver(manager, event)) }
    }

    mutating func newCall(_ purpose: CallPurpose) -> CallID { outputs.calls.add(purpose) }

    @discardableResult
    mutating func call(_ purpose: CallPurpose, _ call: MethodCall) -> CallID {
        let id = newCall(purpose)
        outputs.effects.append(.call(id, call))
        return id
    }

    /// The purpose of a call that was answered; nil for what a lost daemon or adapter left behind.
    mutating func purpose(of call: CallID) -> CallPurpose? { outputs.calls.remove(call) }

    mutating func start(_ timer: Input.Timer, _ delay: Duration) {
        outputs.timers.insert(timer)
        outputs.effects.append(.startTimer(timer, delay))
    }

    mutating func stop(_ timer: Input.Timer) {
        if outputs.timers.remove(timer) != nil { outputs.effects.append(.stopTimer(timer)) }
    }

    /// Stops all timers but the one of an adapter that is expected back.
    mutating func stopTimers() {
        for timer in outputs.timers where timer != .adapterReturn { stop(timer) }
    }

    func isRunning(_ timer: Input.Timer) -> Bool { outputs.timers.contains(timer) }

    /// Ends a timer that fired.
    ///
    /// - Returns: Whether it was still running.
    mutating func endTimer(_ timer: Input.Timer) -> Bool { outputs.timers.remove(timer) != nil }

    mutating func log(_ level: LogMessage.Level, _ text: String) {
        outputs.effects.append(.log(LogMessage(level: level, text: text)))
    }

    /// Says where the role begins to need pairing, or needs it no longer.
    ///
    /// BlueZ pitfall: the kernel takes a link's capability when the link begins, so the agent comes before `Connect`.
    mutating func pairingNeedChanged(to isNeeded: Bool) {
        guard isNeeded != outputs.mayNeedPairing else { return }
        outputs.mayNeedPairing = isNeeded
        outputs.effects.insert(.pairingNeedChanged(isNeeded), at: isNeeded ? 0 : outputs.effects.endIndex)
    }
}

// MARK: - Adapter and state

extension RoleMachine {
    /// The adapter's state, as the managers are told it.
    var state: AdapterState { watch.state }

    /// The devices that are known on the adapter.
    var directory: PeerDirectory {
        get { watch.directory }
        _modify { yield &watch.directory }
    }

    /// Whether an object is below the adapter in use.
    ///
    /// BlueZ pitfall: `hci1` begins the text of `hci10`, too (https://github.com/hbldh/bleak/issues/2012); paths are
    /// compared by their elements.
    func isOurs(_ path: ObjectPath) -> Bool {
        watch.adapter.map { path.isBelow($0) } ?? false
    }

    /// Follows a phase of the daemon.
    ///
    /// - Returns: Whether the adapter's state may be another one now; that of a daemon that has just come follows from
    ///   its snapshot.
    mutating func follow(_ phase: DaemonPhase) -> Bool {
        let wasDenied = watch.daemon == .denied
        watch.daemonChanged(phase)
        if phase != .ready { directory.forgetObjects() }
        if wasDenied != (phase == .denied) {
            for manager in managers.keys.sorted() {
                deliver(manager, .authorizationChanged(phase == .denied ? .denied : .allowed))
            }
        }
        guard phase == .ready else { return true }
        startWait()
        return false
    }

    /// Chooses the adapter anew.
    ///
    /// - Returns: The state before, if it is another one now.
    mutating func changeState() -> AdapterState? {
        let adapters = objects.adapters
        watch.choose(among: adapters)
        startWait()
        if watch.adapter != nil { stop(.adapterReturn) }
        return watch.changeState(adapters)
    }

    private mutating func startWait() {
        if let wait = watch.takeWait() { start(.adapterReturn, wait) }
    }

    /// Delivers a state to a manager that does not have it.
    ///
    /// An unknown state is not delivered: the first event is the first definite state.
    ///
    /// - Parameter beforeFirst: What a manager is told before its first state.
    mutating func deliverState(to manager: HostLedger.Manager, beforeFirst: (inout Self) -> Void = { _ in }) {
        let state = state
        guard state != .unknown, managers[manager]?.state != state else { return }
        if managers[manager]?.state == nil { beforeFirst(&self) }
        managers[manager]?.state = state
        deliver(manager, .stateChanged(state))
    }
}
#endif
