#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The agents of clients, which answer the questions of pairings; the first one is the default.
///
/// Pure. Source: BlueZ, `src/agent.c`, `doc/org.bluez.AgentManager.rst`.
struct Agents: Sendable {
    struct Agent: Equatable, Sendable {
        let object: ClientObject
        let capability: PairingCapability
    }

    static let interface = "org.bluez.Agent1"

    private(set) var all: [Agent] = []
    /// The capability that each adapter has at present.
    var capabilities: [PairingCapability] = []

    /// The agent for pairings that no client with its own agent started.
    var `default`: Agent? { all.first }

    func agent(of client: String) -> Agent? { all.first { $0.object.client == client } }

    /// The capability with the name that clients use; nil for an unknown name.
    static func capability(_ name: String) -> PairingCapability? {
        switch name {
        case "", "KeyboardDisplay": .keyboardDisplay
        case "DisplayOnly": .displayOnly
        case "DisplayYesNo": .displayYesNo
        case "KeyboardOnly": .keyboardOnly
        case "NoInputNoOutput": .noInputNoOutput
        default: nil
        }
    }

    /// Adds the agent of a client that has none.
    mutating func register(_ agent: Agent) { all.append(agent) }

    /// - Returns: Whether the client has this agent.
    mutating func makeDefault(_ object: ClientObject) -> Bool {
        guard let agent = remove(where: { $0 == object }) else { return false }
        all.insert(agent, at: 0)
        return true
    }

    /// Removes the first agent whose object is meant.
    mutating func remove(where isMeant: (ClientObject) -> Bool) -> Agent? {
        all.firstIndex { isMeant($0.object) }.map { all.remove(at: $0) }
    }
}

extension DaemonContext {
    /// The input and output capability of an agent; without an agent, the configured passkey decides.
    func capability(of agent: Agents.Agent?) -> PairingCapability {
        agent?.capability ?? (configuration.passkey == nil ? .noInputNoOutput : .keyboardDisplay)
    }

    /// Whether the questions of a pairing can be answered.
    var hasAgent: Bool { agents.default != nil || configuration.passkey != nil }

    /// Sets the capability of the adapters to that of the default agent.
    mutating func showCapability() {
        let capability = capability(of: agents.default)
        for adapter in agents.capabilities.indices { setCapability(capability, of: adapter) }
    }

    mutating func setCapability(_ capability: PairingCapability, of adapter: Int) {
        guard agents.capabilities[adapter] != capability else { return }
        agents.capabilities[adapter] = capability
        output(.pairing(adapter: adapter, .setCapability(capability)))
    }
}

extension BluetoothDaemon {
    mutating func handleAgentCall(_ call: ClientCall) throws(DBusError) {
        let object = try call.namedObject()
        switch call.member {
        case "RegisterAgent":
            guard context.agents.agent(of: call.sender) == nil else { throw BlueZError.alreadyExists }
            guard let capability = Agents.capability(call.arguments.last?.stringValue ?? "?") else {
                throw BlueZError.invalidArguments
            }
            context.agents.register(Agents.Agent(object: object, capability: capability))
        case "UnregisterAgent":
            guard let agent = context.agents.remove(where: { $0 == object }) else { throw BlueZError.doesNotExist }
            abandonQuestions(of: agent)
        default:
            guard context.agents.makeDefault(object) else { throw BlueZError.doesNotExist }
        }
        agentsChanged()
        context.answer(call.id)
    }

    /// Updates the adapters after an agent was added or removed, or became the default.
    ///
    /// Adapters are pairable while an agent exists, unless a client sets `Pairable` meanwhile.
    ///
    /// Source: BlueZ, `src/adapter.c`, `adapter_set_io_capability`.
    mutating func agentsChanged() {
        context.showCapability()
        for index in adapters.indices { adapters[index].setPairable(context.hasAgent, &context) }
    }

    /// Refuses the open questions to an agent that is gone.
    mutating func abandonQuestions(of agent: Agents.Agent) {
        for index in adapters.indices { adapters[index].pairing.reject(askedOf: agent, &context) }
    }
}
#endif
