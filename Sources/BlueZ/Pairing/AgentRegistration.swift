#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Our one agent at the daemon: what it should be, what it is, and the one call in between.
///
/// Pure.
///
/// BlueZ pitfall: without an agent, pairings that a protected attribute starts fail or hang for ever
/// (https://github.com/hbldh/bleak/issues/1434), and only the default agent is asked about them.
struct AgentRegistration: Sendable {
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
    var wanted: PairingCapability?
    private var registered: PairingCapability?
    private var isDefault = false
    /// Whether bonding is ours to care for: the daemon agreed that the agent is the default one.
    private var mayRepair = false
    /// Adapters that ended bonding since the daemon was asked to take the agent; see ``takeRepairs()``.
    private var unbonding: Set<ObjectPath> = []
    /// Adapters that were told once to bond again.
    private var repaired: Set<ObjectPath> = []
    private var pending: Step?
    /// What the daemon refused; it is not asked again before that changes.
    private var refused: PairingCapability?

    /// The call to make now, if any; its outcome must be told by ``done(error:)``.
    mutating func nextStep() -> Step? {
        guard pending == nil else { return nil }
        pending = step
        return pending
    }

    private var step: Step? {
        if let registered, registered != wanted { return .unregister }
        guard let wanted, wanted != refused else { return nil }
        guard registered != nil else { return .register(wanted) }
        return isDefault ? nil : .makeDefault
    }

    /// Takes in the outcome of the last call.
    mutating func done(error: DBusError?) {
        guard let step = pending else { return }
        pending = nil
        switch step {
        case .register(let capability):
            // One that is there already is ours.
            if error == nil || error?.name == "org.bluez.Error.AlreadyExists" {
                registered = capability
            } else {
                refused = capability
            }
        case .makeDefault:
            isDefault = true
            mayRepair = error == nil
        case .unregister: reset()
        }
    }

    /// An adapter makes bonds from now on, or none any more.
    mutating func bondingChanged(on adapter: ObjectPath, to isOn: Bool) {
        let isOurs = pending != .unregister && (registered != nil || pending != nil)
        if isOn || !isOurs { unbonding.remove(adapter) } else { unbonding.insert(adapter) }
    }

    /// The adapters that are to bond again.
    ///
    /// BlueZ pitfall: bluetoothd does not bond while there is no default agent. Where one goes and the next one comes
    /// before the kernel has confirmed the first half of that, the second half is left out, and all bonds end with
    /// their links. That is told before or after the new agent is the default one; once for each adapter, after which
    /// it is somebody's wish.
    mutating func takeRepairs() -> [ObjectPath] {
        guard mayRepair else { return [] }
        defer {
            repaired.formUnion(unbonding)
            unbonding = []
        }
        return unbonding.subtracting(repaired).sorted()
    }

    /// The daemon forgot the agent, or is gone itself.
    mutating func reset() {
        self = AgentRegistration(wanted: wanted)
    }
}
#endif
