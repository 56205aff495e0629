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
    /// Whether `Pairable` may still go off for a reason that is over; see ``takeRepair()``.
    private var mayNeedRepair = false
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
            mayNeedRepair = error == nil
        case .unregister:
            registered = nil
            isDefault = false
            mayNeedRepair = false
            refused = nil
        }
    }

    /// The adapter does not make bonds any more.
    ///
    /// BlueZ pitfall: bluetoothd does not bond while there is no default agent. Where one goes and the next one comes
    /// before the kernel has confirmed the first half of that, the second half is left out, and all bonds end with
    /// their links.
    ///
    /// - Returns: Whether that is why, as it can be once for each time that the agent became the default.
    mutating func takeRepair() -> Bool {
        defer { mayNeedRepair = false }
        return isDefault && mayNeedRepair
    }

    /// The daemon forgot the agent, or is gone itself.
    mutating func reset() {
        registered = nil
        isDefault = false
        mayNeedRepair = false
        pending = nil
        refused = nil
    }
}
#endif
