#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch

/// Runs a ``PairingRoleMachine``: exports our `org.bluez.Agent1`, passes inputs to the machine, and performs its effects.
///
/// Inputs are processed on the daemon's queue. The identifiers of devices come from the central roles.
final class PairingDriver: DaemonClient {
    private struct Contents: Sendable {
        var machine: PairingRoleMachine
        var sinks: [PairingRoleMachine.Agent: any EventSink<PairingEvent>] = [:]
        var inputs = InputQueue<PairingRoleInput>()
        var calls: [AgentCallID: DBusCall] = [:]
        var lastCall: UInt64 = 0
        var lastAgent = 0
        var isStarted = false
        /// The roles in which something may need pairing.
        var needy: Set<ObjectIdentifier> = []
    }

    private let contents: Lock<Contents>
    private let daemon: BlueZDaemon
    /// The drivers of the central role; at least one, which may not run yet.
    private let centrals: @Sendable () -> [CentralRoleDriver]
    private let peripherals: @Sendable () -> [PeripheralRoleDriver]

    init(
        daemon: BlueZDaemon, timings: BlueZTimings, acceptsJustWorks: Bool,
        centrals: @escaping @Sendable () -> [CentralRoleDriver],
        peripherals: @escaping @Sendable () -> [PeripheralRoleDriver]
    ) {
        self.daemon = daemon
        self.centrals = centrals
        self.peripherals = peripherals
        contents = Lock(Contents(machine: PairingRoleMachine(timings: timings, acceptsJustWorks: acceptsJustWorks)))
    }

    // MARK: Any thread

    /// A number for an agent that comes.
    func newAgent() -> PairingRoleMachine.Agent {
        contents.withLock { contents in
            contents.lastAgent += 1
            return contents.lastAgent
        }
    }

    /// A manager is there, which may need pairing later.
    func follow() {
        daemon.queue.async { [self] in start() }
    }

    func activate(_ agent: PairingRoleMachine.Agent, _ sink: any EventSink<PairingEvent>) {
        daemon.queue.async { [self] in
            contents.withLock { $0.sinks[agent] = sink }
            start()
            process(.activated(agent))
        }
    }

    func submit(_ command: PairingCommand, from agent: PairingRoleMachine.Agent) {
        daemon.run { [self] in process(.command(agent, command, command.peer.flatMap(device(of:)))) }
    }

    func invalidate(_ agent: PairingRoleMachine.Agent) {
        let sink = contents.withLock { $0.sinks.removeValue(forKey: agent) }
        daemon.queue.async { [self] in process(.invalidated(agent)) }
        withExtendedLifetime(sink) {}
    }

    // MARK: On the daemon's queue

    private func start() {
        let isFirst = contents.withLock { contents in
            defer { contents.isStarted = true }
            return !contents.isStarted
        }
        for central in centrals() { central.start() }
        guard isFirst else { return }
        daemon.exports.export([Agent1.interface { [weak self] in self?.called($0) }], at: PairingRoleMachine.agentPath)
        daemon.add(self)
    }

    private func process(_ input: PairingRoleInput) {
        guard contents.withLock({ $0.inputs.add(input) }) else { return }
        while let effects = nextEffects() {
            for effect in effects { perform(effect) }
        }
    }

    private func nextEffects() -> [PairingRoleEffect]? {
        contents.withLock { contents in contents.inputs.next().map { contents.machine.handle($0) } }
    }

    private func perform(_ effect: PairingRoleEffect) {
        switch effect {
        case .call(let id, let call):
            daemon.call(call) { [weak self] result in self?.process(.reply(id, result)) }
        case .answer(let id, let answer):
            let call = contents.withLock { $0.calls.removeValue(forKey: id) }
            if let call { Agent1.answer(call, answer) }
        case .deliver(let agent, let event):
            if let delivery = contents.withLock({ $0.sinks[agent] })?.append(event) { daemon.deliver(delivery) }
        case .refused(let peer): for central in centrals() { central.process(.pairingRefused(peer)) }
        case .startTimer(let peer, let delay):
            daemon.queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { [weak self] in
                self?.process(.timer(peer))
            }
        case .startAgentTimer(let number, let delay):
            daemon.queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { [weak self] in
                self?.process(.agentTimer(number))
            }
        case .log(let message): message.write()
        }
    }

    /// A role found that a link lacks security.
    func securityFailed(_ peer: PeerID) { process(.securityFailed(peer)) }

    /// A role may need pairing from now on, or needs it no longer.
    func needChanged(of role: ObjectIdentifier, to isNeeded: Bool) {
        let isAnyNeeded = contents.withLock { contents in
            if isNeeded { contents.needy.insert(role) } else { contents.needy.remove(role) }
            return !contents.needy.isEmpty
        }
        process(.needChanged(isAnyNeeded))
    }

    // MARK: The daemon's calls

    private func called(_ call: DBusCall) {
        switch Agent1.request(call) {
        case .ask(let question, let path):
            let device = device(at: path)
            let id = contents.withLock { contents in
                contents.lastCall += 1
                let id = AgentCallID(number: contents.lastCall)
                contents.calls[id] = call
                return id
            }
            process(.asked(id, question, path, device))
        case .cancel:
            Agent1.answer(call, .accept)
            process(.cancelled)
        case .release:
            Agent1.answer(call, .accept)
            process(.released)
        case nil: Agent1.answer(call, .reject)
        }
    }

    // MARK: Devices

    /// The device at a path, which each central role of its adapter knows.
    private func device(at path: ObjectPath) -> PairingDevice? {
        let known = centrals().compactMap { role in role.query { $0.pairingDevice(at: path) } }
        guard var device = known.first else { return nil }
        device.isOurs =
            known.contains(where: \.isOurs)
            || device.isConnected && peripherals().contains { role in role.query { $0.mayNeedPairing(with: path) } }
        return device
    }

    private func device(of peer: PeerID) -> PairingDevice? {
        for central in centrals() {
            if let path = central.query({ $0.directory.path(of: peer) }) { return device(at: path) }
        }
        return nil
    }

    func receive(_ event: DaemonEvent) {
        switch event {
        case .phase(let phase): process(.daemon(isReady: phase == .ready))
        case .changed(let changes): for change in changes { apply(change) }
        case .snapshot:
            let paired = daemon.objects.devices.filter(\.value.isPaired)
            let pairable = daemon.objects.adapters.compactMapValues(\.isPairable)
            process(.snapshot(paired.keys.compactMap(device(at:)), pairable: pairable))
        }
    }

    private func pairableChanged(on adapter: ObjectPath) {
        guard let isPairable = daemon.objects.adapters[adapter]?.isPairable else { return }
        process(.pairableChanged(adapter, isOn: isPairable))
    }

    private func apply(_ change: ObjectModel.Change) {
        switch change {
        case .adapterAdded(let path): pairableChanged(on: path)
        case .adapterChanged(let path, let changes): if changes.contains(.pairable) { pairableChanged(on: path) }
        case .adapterRemoved(let path): process(.pairableChanged(path, isOn: nil))
        case .deviceChanged(let path, let changes) where !changes.isDisjoint(with: [.paired, .connected]):
            guard let device = device(at: path) else { break }
            if changes.contains(.paired) { process(.pairedChanged(device, isPaired: device.isPaired)) }
            if changes.contains(.connected), !device.isConnected { process(.disconnected(device.peer)) }
        case .deviceRemoved(let path, _): process(.removed(path))
        default: break
        }
    }
}

extension CentralRoleMachine {
    /// What pairing needs to know of a device; nil where this adapter has no such device.
    func pairingDevice(at path: ObjectPath) -> PairingDevice? {
        guard let peer = directory.peer(at: path), let device = objects.devices[path] else { return nil }
        return PairingDevice(
            path: path, peer: peer, isPaired: device.isPaired, isConnected: device.isConnected,
            isOurs: !ledger.leases(of: peer).isEmpty)
    }
}

extension PeripheralRoleMachine {
    /// Whether something that is published on a central's adapter requires encryption.
    func mayNeedPairing(with central: ObjectPath) -> Bool { outputs.mayNeedPairing && isOurs(central) }
}

extension PairingCommand {
    /// Whom a command is about.
    fileprivate var peer: PeerID? {
        switch self {
        case .pair(let peer, _), .unpair(let peer, _): peer
        case .setCapability, .answer: nil
        }
    }
}
#endif
