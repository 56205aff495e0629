#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Our one agent at the daemon: what it should be, what it is, and the one call in between.
///
/// Pure.
///
/// bluetoothd keeps the default agents of all programs in a list. The first agent that is registered is put into it, and
/// `RequestDefaultAgent` puts one in front; the one in front is asked about pairings that no program began. So an agent that
/// is only registered is asked where no other program offers one, and leaves a desktop's alone.
///
/// BlueZ pitfall: without an agent, pairings that a protected attribute starts fail or hang for ever
/// (https://github.com/hbldh/bleak/issues/1434), and only the default agent is asked about them.
///
/// BlueZ pitfall: bluetoothd switches `Pairable` on for all adapters whenever another agent comes to the front, and off when
/// the last one leaves (`adapter_set_io_capability`), whatever the administrator chose. We never switch it on; the agent is
/// not made the default one while an adapter is switched off, and what bluetoothd undoes as our agent leaves is restored.
struct AgentRegistration: Sendable {
    /// What our agent should be.
    struct Wanted: Equatable, Sendable {
        var capability: PairingCapability
        /// Whether it is to be asked before the agents of other programs.
        var isDefault = false
    }

    /// The next call.
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

    /// What is wanted; nil for no agent.
    var wanted: Wanted?
    /// Whether the daemon was asked to put the agent in front.
    private(set) var isDefault = false
    private var registered: PairingCapability?
    private var pending: Step?
    /// What the daemon refused; it is not asked again before that changes.
    private var refused: PairingCapability?
    /// The last call, while bluetoothd may change `Pairable` as its outcome.
    private var recent: Step?
    /// `Adapter1.Pairable` of each adapter.
    private var pairable: [ObjectPath: Bool] = [:]
    /// Adapters that were switched off when a call was made that makes bluetoothd switch them on.
    private var switchedOff: Set<ObjectPath> = []
    /// Adapters that are off, and that the log says so of.
    private var noted: Set<ObjectPath> = []

    /// Whether the agent is what is wanted, or cannot be.
    var isSettled: Bool {
        guard let wanted else { return registered == nil }
        return registered == wanted.capability || refused == wanted.capability
    }

    init(wanted: Wanted? = nil) { self.wanted = wanted }

    // MARK: Calls

    /// The call to make now, if any; its outcome must be reported with ``done(error:)``.
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
        // An agent that comes before the last one's end is confirmed by the kernel would not be bonded with.
        guard recent == nil, let wanted, wanted.capability != refused else { return nil }
        return .register(wanted.capability)
    }

    private var off: Set<ObjectPath> { Set(pairable.filter { !$0.value }.keys) }

    /// Takes in the outcome of the last call.
    ///
    /// - Returns: Whether ``waitOver()`` is to be called after a moment.
    mutating func done(error: DBusError?) -> Bool {
        guard let step = pending else { return false }
        (pending, recent) = (nil, nil)
        switch step {
        case .register(let capability):
            // One that is there already is ours.
            guard error == nil || error?.name == "org.bluez.Error.AlreadyExists" else {
                refused = capability
                return false
            }
            registered = capability
        case .makeDefault: isDefault = true
        case .unregister:
            (registered, isDefault, refused) = (nil, false, nil)
            // Nothing will change.
            guard pairable.values.contains(true) || !switchedOff.isEmpty else { return false }
        }
        recent = step
        return true
    }

    mutating func waitOver() { recent = nil }

    /// The daemon has forgotten the agent.
    mutating func reset() {
        let old = self
        self = AgentRegistration()
        (wanted, pairable, noted) = (old.wanted, old.pairable, old.noted)
    }

    /// The daemon is gone, and its adapters with it.
    mutating func daemonWent() { self = AgentRegistration(wanted: wanted) }

    // MARK: Pairable

    /// `Adapter1.Pairable` of an adapter; nil once that is gone.
    ///
    /// - Returns: Whether bluetoothd undid what the administrator chose, so that it is to be restored.
    mutating func pairableChanged(on adapter: ObjectPath, to isOn: Bool?) -> Bool {
        let old = pairable[adapter]
        pairable[adapter] = isOn
        guard isOn == true else {
            // With our agent in its place, only a user switches this off.
            if old == true, isOn == false, registered != nil, pending != .unregister { switchedOff.insert(adapter) }
            if recent == .unregister, off.count == pairable.count, switchedOff.isEmpty { recent = nil }
            return false
        }
        noted.remove(adapter)
        let wasOff = switchedOff.remove(adapter) != nil
        let isBlueZs = [.makeDefault, .unregister].contains(pending ?? recent)
        return wasOff && isBlueZs
    }

    /// The adapters on which pairing is switched off although the agent is there, each once until that changes.
    mutating func takeSwitchedOff() -> [ObjectPath] {
        guard registered != nil, pending == nil, recent == nil else { return [] }
        let new = off.subtracting(noted)
        noted.formUnion(new)
        return new.sorted()
    }
}
#endif
