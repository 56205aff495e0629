#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The registration of this process's agent: the wanted agent, the registered one, and the call in flight.
///
/// Pure.
///
/// bluetoothd keeps the default agents of all programs in a list. The first registered agent is added to it, and
/// `RequestDefaultAgent` moves an agent to the front; the agent at the front is asked about pairings that no program
/// began. So an agent that is only registered is asked if no other program provides one, and does not displace a
/// desktop's.
///
/// BlueZ pitfall: without an agent, pairings that a protected attribute starts fail or hang forever
/// (https://github.com/hbldh/bleak/issues/1434), and only the default agent is asked about them.
///
/// BlueZ pitfall: bluetoothd switches `Pairable` on for all adapters whenever another agent becomes the first, and off
/// when the last one is removed (`adapter_set_io_capability`), whatever the administrator chose. This process never
/// switches it on: the agent does not become the default one while an adapter is switched off, and a change that
/// bluetoothd makes when the agent is removed is reverted.
struct AgentRegistration: Sendable {
    /// The wanted agent.
    struct Wanted: Equatable, Sendable {
        var capability: PairingCapability
        /// Whether it is asked before the agents of other programs.
        var isDefault = false
    }

    /// A call to the agent manager.
    enum Step: Equatable, Sendable {
        case register(PairingCapability)
        case makeDefault
        case unregister

        /// The member of `org.bluez.AgentManager1`.
        var member: String {
            switch self {
            case .register: "RegisterAgent"
            case .makeDefault: "RequestDefaultAgent"
            case .unregister: "UnregisterAgent"
            }
        }
    }

    /// The wanted agent; nil for no agent.
    var wanted: Wanted?
    /// Whether the daemon was asked to make the agent the default one.
    private(set) var isDefault = false
    private var registered: PairingCapability?
    private var pending: Step?
    /// The capability that the daemon refused; only another one is registered.
    private var refused: PairingCapability?
    /// The last call, while bluetoothd may change `Pairable` as its consequence.
    private var recent: Step?
    /// `Adapter1.Pairable` of each adapter.
    private var pairable: [ObjectPath: Bool] = [:]
    /// Adapters that were switched off before a call that makes bluetoothd switch them on.
    private var switchedOff: Set<ObjectPath> = []
    /// Adapters that are switched off and that the log has reported.
    private var noted: Set<ObjectPath> = []

    /// Whether the agent is registered as wanted, or cannot be.
    var isSettled: Bool {
        guard let wanted else { return registered == nil }
        return registered == wanted.capability || refused == wanted.capability
    }

    init(wanted: Wanted? = nil) { self.wanted = wanted }

    // MARK: Calls

    /// Returns the call to make now, if any; the caller reports its outcome with ``done(error:)``.
    mutating func nextStep() -> Step? {
        guard pending == nil else { return nil }
        pending = step
        if pending == .unregister { switchedOff = off }
        return pending
    }

    private var step: Step? {
        if let registered {
            guard let wanted, wanted.capability == registered, wanted.isDefault || !isDefault else {
                return .unregister
            }
            return wanted.isDefault && !isDefault && off.isEmpty ? .makeDefault : nil
        }
        // Pairing would fail with an agent that is registered before the kernel confirms the end of the last one.
        guard recent == nil, let wanted, wanted.capability != refused else { return nil }
        return .register(wanted.capability)
    }

    private var off: Set<ObjectPath> { Set(pairable.filter { !$0.value }.keys) }

    /// Processes the outcome of the last call.
    ///
    /// - Returns: Whether the caller must call ``waitOver()`` after a moment.
    mutating func done(error: DBusError?) -> Bool {
        guard let step = pending else { return false }
        (pending, recent) = (nil, nil)
        switch step {
        case .register(let capability):
            // An existing agent at this path was registered by this process.
            guard error == nil || error?.name == "org.bluez.Error.AlreadyExists" else {
                refused = capability
                return false
            }
            registered = capability
        case .makeDefault: isDefault = true
        case .unregister:
            (registered, isDefault, refused) = (nil, false, nil)
            // bluetoothd will not change `Pairable`.
            guard pairable.values.contains(true) || !switchedOff.isEmpty else { return false }
        }
        recent = step
        return true
    }

    mutating func waitOver() { recent = nil }

    /// Records that the daemon has dropped the agent.
    mutating func reset() {
        let old = self
        self = AgentRegistration()
        (wanted, pairable, noted) = (old.wanted, old.pairable, old.noted)
    }

    /// Records that the daemon and its adapters are gone.
    mutating func daemonWent() { self = AgentRegistration(wanted: wanted) }

    // MARK: Pairable

    /// Records `Adapter1.Pairable` of an adapter; nil once the adapter is gone.
    ///
    /// - Returns: Whether bluetoothd overrode the administrator's choice, which the caller must restore.
    mutating func pairableChanged(on adapter: ObjectPath, to isOn: Bool?) -> Bool {
        let old = pairable[adapter]
        pairable[adapter] = isOn
        guard isOn == true else {
            // While our agent is registered, only a user switches this off.
            if old == true, isOn == false, registered != nil, pending != .unregister { switchedOff.insert(adapter) }
            if recent == .unregister, off.count == pairable.count, switchedOff.isEmpty { recent = nil }
            return false
        }
        noted.remove(adapter)
        let wasOff = switchedOff.remove(adapter) != nil
        let isBlueZs = [.makeDefault, .unregister].contains(pending ?? recent)
        return wasOff && isBlueZs
    }

    /// Returns the adapters on which pairing is off although the agent is registered, each once until that changes.
    mutating func takeSwitchedOff() -> [ObjectPath] {
        guard registered != nil, pending == nil, recent == nil else { return [] }
        let new = off.subtracting(noted)
        noted.formUnion(new)
        return new.sorted()
    }
}
#endif
