#if os(Linux)
public import BluetoothDBus

/// Agents and pairing.
extension ScriptedBlueZ {
    /// `org.bluez.AgentManager1`.
    public static let agentManager = "org.bluez.AgentManager1"
    /// Where it is.
    public static let agentManagerPath = "/org/bluez"

    /// Adds the manager of agents, which takes every agent, and devices that pair at once.
    func answerAgents() {
        service.add(Self.agentManagerPath, [Self.agentManager: [:]])
        for member in ["RegisterAgent", "UnregisterAgent", "RequestDefaultAgent"] {
            service.on(Self.agentManager, member) { _ in .values([]) }
        }
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

    /// Asks the agent that a client registered, as the daemon does while it pairs.
    ///
    /// - Throws: The agent's refusal.
    public func askAgent(_ member: String, _ body: [DBusValue] = []) async throws -> [DBusValue] {
        let call = try await service.calls.first { $0.member == "RegisterAgent" }
        let path = call.body.first?.pathValue?.text ?? ""
        return try await service.call(call.sender, path, "org.bluez.Agent1", member, body)
    }
}
#endif
