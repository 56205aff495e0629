#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch

/// Runs a ``CentralRoleMachine``.
// Invariant of `@unchecked Sendable`: the variables are used on the daemon's queue only.
final class CentralRoleDriver: RoleDriver, @unchecked Sendable {
    let core: RoleDriverCore<CentralRoleMachine>
    private let signalStrengths: SignalStrengthReader
    private var sockets: [LinkSocketID: WriteSocket] = [:]
    private var notificationSockets: NotificationSockets?
    private let store: PreservationStore
    /// The restore identifiers of the managers that were given one.
    private let identifiers = Lock<[HostLedger.Manager: String]>([:])
    private var securityHandler: (@Sendable (PeerID) -> Void)?

    init(
        selector: AdapterSelector, daemon: BlueZDaemon, timings: BlueZTimings,
        network: any ChannelNetwork, controllers: any ControllerAccess, store: PreservationStore,
        notificationMethod: BlueZConfiguration.NotificationMethod
    ) {
        self.store = store
        signalStrengths = SignalStrengthReader(queue: daemon.queue, access: controllers)
        core = RoleDriverCore(
            CentralRoleMachine(
                selector: selector, objects: daemon.objects, timings: timings, notificationMethod: notificationMethod),
            daemon: daemon)
        addChannels(of: network)
        notificationSockets = NotificationSockets(daemon: daemon) { [weak self] in
            self?.process(.notificationSocket($0, $1))
        }
    }

    /// Returns the number of a new manager, which may restore the state of an earlier process.
    func newManager(restoring identifier: String?, remembering limit: Int) -> HostLedger.Manager {
        let manager = newManager(remembering: limit)
        identifiers.withLock { $0[manager] = identifier }
        return manager
    }

    func prepareActivation(
        of manager: HostLedger.Manager, _ completion: @escaping @Sendable (CentralRoleInput?) -> Void
    ) {
        guard let identifier = identifiers.withLock({ $0[manager] }) else { return completion(nil) }
        store.load(identifier) { completion(.restoring(manager, $0)) }
    }

    /// Sets the handler of peers with which an operation failed because of missing security.
    func onSecurityFailure(_ handler: @escaping @Sendable (PeerID) -> Void) {
        daemon.queue.async { [self] in securityHandler = handler }
    }

    func perform(_ effect: CentralRoleEffect) {
        switch effect {
        case .call(let id, let call): make(call, id)
        case .openChannel(let id, let local, let peer):
            core.contents.channels?.connect(from: local, to: peer) { [weak self] result in
                self?.process(.channelReply(id, result))
            }
        case .readSignalStrength(let id, let peer, let controller):
            signalStrengths.read(peer, on: controller) { [weak self] in self?.process(.signalStrength(id, $0)) }
        case .channel(let channel, let action): core.contents.channels?.perform(action, on: channel)
        case .socket(let socket, let action): perform(action, on: socket)
        case .notificationSocket(let socket, let action):
            notificationSockets?.perform(action, on: socket)
        case .pairingNeedChanged(let isNeeded): pairingNeedChanged(to: isNeeded)
        case .securityFailed(let peer): securityHandler?(peer)
        case .refresh: daemon.refresh()
        case .deliver(let manager, let event): deliver(event, to: manager)
        case .preserve(let manager, let state):
            if let identifier = identifiers.withLock({ $0[manager] }) { store.save(state, for: identifier) }
        case .startTimer(let key, let delay): startTimer(key, delay)
        case .stopTimer(let key): stopTimer(key)
        case .log(let message): message.write()
        }
    }

    private func perform(_ action: WriteSocket.Action, on id: LinkSocketID) {
        switch action {
        case .adopt(let socket): adopt(DBusFileDescriptor(adopting: socket), id)
        case .write(let value): sockets[id]?.send(value)
        case .drain: sockets[id]?.drain()
        case .close: sockets.removeValue(forKey: id)?.close()
        }
    }

    private func adopt(_ socket: DBusFileDescriptor, _ id: LinkSocketID) {
        do throws(DBusError) {
            let writeSocket = try WriteSocket(adopting: socket, queue: daemon.queue) { [weak self] event in
                self?.process(.socket(id, event))
            }
            sockets[id] = writeSocket
        } catch {
            BlueZLog.warning("a socket for writes cannot be watched, and is closed: \(error)")
            process(.socket(id, .closed))
        }
    }
}
#endif
