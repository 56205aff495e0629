#if os(Linux)
public import BluetoothDBus
import BluetoothSupport
import Synchronization

/// The agents of all programs, in the order in which bluetoothd stores them.
struct ScriptedAgents: Sendable {
    /// Their objects, by program.
    var paths: [String: String] = [:]
    /// Programs whose agents may become the default one, which is that of the first.
    var defaults: [String] = []
}

/// Agents and pairing.
///
/// As in bluetoothd, the first registered agent is the default one, and `Pairable` is switched on with each new default
/// agent and off with the last.
extension ScriptedBlueZ {
    /// `org.bluez.AgentManager1`.
    public static let agentManager = "org.bluez.AgentManager1"
    /// The path of the agent manager.
    public static let agentManagerPath = "/org/bluez"

    private static let desktop = "desktop"
    private static let doesNotExist = DBusError(name: "org.bluez.Error.DoesNotExist", message: "Does Not Exist")

    /// Adds the agent manager, and devices that pair immediately.
    func answerAgents() {
        service.add(Self.agentManagerPath, [Self.agentManager: [:]])
        service.on(Self.agentManager, "RegisterAgent") { [weak self] call in
            let path = call.body.first?.pathValue?.text ?? ""
            guard self?.agents.withLock({ $0.paths.updateValue(path, forKey: call.sender) }) == nil else {
                return .error(DBusError(name: "org.bluez.Error.AlreadyExists", message: "Already Exists"))
            }
            self?.changeDefault { if $0.isEmpty { $0 = [call.sender] } }
            return .values([])
        }
        service.on(Self.agentManager, "RequestDefaultAgent") { [weak self] call in
            guard self?.agents.withLock({ $0.paths[call.sender] }) != nil else { return .error(Self.doesNotExist) }
            self?.changeDefault { $0 = [call.sender] + $0.filter { $0 != call.sender } }
            return .values([])
        }
        service.on(Self.agentManager, "UnregisterAgent") { [weak self] call in
            guard self?.agents.withLock({ $0.paths.removeValue(forKey: call.sender) }) != nil else {
                return .error(Self.doesNotExist)
            }
            self?.changeDefault { $0.removeAll { $0 == call.sender } }
            return .values([])
        }
        service.on("org.freedesktop.DBus.Properties", "Set") { [weak self] call in
            guard call.body[1] == .string("Pairable"), case .variant(.boolean(let isOn)) = call.body[2] else {
                return .error(DBusError(name: DBusError.Name.unknownMethod, message: "Set"))
            }
            self?.setPairable(isOn)
            return .values([])
        }
        answerPairing()
    }

    private func answerPairing() {
        service.on(Interface.device, "Pair") { [weak self] call in
            self?.service.set(call.path, Interface.device, ["Paired": .boolean(true)])
            return .values([])
        }
        service.on(Interface.device, "CancelPairing") { _ in .values([]) }
        service.on(Interface.adapter, "RemoveDevice") { [weak self] call in
            guard let path = call.body.first?.pathValue?.text else { return .values([]) }
            self?.service.remove(path)
            return .values([])
        }
    }

    private func changeDefault(_ change: (inout [String]) -> Void) {
        let (before, after) = agents.withLock { agents in
            let before = agents.defaults.first
            change(&agents.defaults)
            return (before, agents.defaults.first)
        }
        if before != after { setPairable(after != nil) }
    }

    /// Switches pairing on or off, as a user does.
    public func setPairable(_ isOn: Bool) {
        guard isPairable != isOn else { return }
        service.set(Self.adapter, Interface.adapter, ["Pairable": .boolean(isOn)])
    }

    /// Whether pairing is switched on.
    public var isPairable: Bool { service.property(Self.adapter, Interface.adapter, "Pairable") == .boolean(true) }

    /// Makes a desktop's agent the default one.
    public func addDesktopAgent() { changeDefault { $0.insert(Self.desktop, at: 0) } }

    /// Whether the desktop's agent would be asked.
    public var asksDesktop: Bool { agents.withLock { $0.defaults.first } == Self.desktop }

    /// Whether no default agent exists.
    public var asksNoAgent: Bool { agents.withLock { $0.defaults.isEmpty } }

    /// Asks the default agent, as the daemon does about a pairing that no program began.
    ///
    /// - Throws: The agent's refusal; also if no agent exists, or only a desktop's.
    public func askAgent(_ member: String, _ body: [DBusValue] = []) async throws -> [DBusValue] {
        let agent = agents.withLock { agents in
            agents.defaults.first.flatMap { owner in agents.paths[owner].map { (owner, $0) } }
        }
        guard let (owner, path) = agent else {
            throw DBusError(name: "org.bluez.Error.DoesNotExist", message: "no agent of a client is the default one")
        }
        return try await service.call(owner, path, "org.bluez.Agent1", member, body)
    }
}
#endif
