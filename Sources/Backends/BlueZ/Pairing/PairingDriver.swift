#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch

/// Runs a ``PairingRoleMachine``, and exports this process's `org.bluez.Agent1`.
final class PairingDriver: RoleDriver {
    let core: RoleDriverCore<PairingRoleMachine>
    /// Whether a role of this process needs pairing with the device at a path.
    private let needsPairing: @Sendable (ObjectPath) -> Bool
    /// Called with a peer whose pairing was refused, because an operation on its link may wait for the pairing.
    private let refused: @Sendable (PeerID) -> Void
    /// The roles that may need pairing.
    private let needy = Lock<Set<ObjectIdentifier>>([])

    init(
        daemon: BlueZDaemon, timings: BlueZTimings, acceptsJustWorks: Bool,
        needsPairing: @escaping @Sendable (ObjectPath) -> Bool, refused: @escaping @Sendable (PeerID) -> Void
    ) {
        self.needsPairing = needsPairing
        self.refused = refused
        core = RoleDriverCore(
            PairingRoleMachine(objects: daemon.objects, timings: timings, acceptsJustWorks: acceptsJustWorks),
            daemon: daemon)
    }

    /// Starts before a manager needs pairing; any thread.
    func startSoon() {
        daemon.queue.async { [self] in start() }
    }

    // MARK: On the daemon's queue

    func willStart() {
        daemon.exports.export(
            [Agent1.interface { [weak self] in self?.received($0) }], at: PairingRoleMachine.agentPath)
    }

    /// Records whether a role may need pairing.
    func needChanged(of role: ObjectIdentifier, to isNeeded: Bool) {
        let isAnyNeeded = needy.withLock { needy in
            if isNeeded { needy.insert(role) } else { needy.remove(role) }
            return !needy.isEmpty
        }
        process(.needChanged(isAnyNeeded))
    }

    private func received(_ call: DBusCall) {
        let device = call.arguments.first?.pathValue
        process(.called(add(call), isNeeded: device.map(needsPairing) ?? false))
    }

    func perform(_ effect: PairingRoleEffect) {
        switch effect {
        case .call(let id, let call): make(call, id)
        case .answer(let number, let values): answer(number, values)
        case .refuse(let number, let error): refuse(number, error)
        case .deliver(let agent, let event): deliver(event, to: agent)
        case .refused(let peer): refused(peer)
        case .startTimer(let key, let delay): startTimer(key, delay)
        case .stopTimer(let key): stopTimer(key)
        case .log(let message): message.write()
        }
    }
}
#endif
