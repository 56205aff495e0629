#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch

/// The conversation with `bluetoothd`: one connection, its owner, its objects.
///
/// Serves all roles and all exported objects of a backend.
///
/// Everything happens on one serial queue, which never waits and runs no app code: what comes in is passed on to the
/// managers' queues, so signals do not pile up in the bus, and a command is carried out on the thread that gives it. The
/// thread that reads the bus may run a manager's queue, too, but off this one, and while another one is ready to read.
///
/// BlueZ pitfall: slow readers lose notifications (https://github.com/hbldh/bleak/issues/1343).
///
/// BlueZ pitfall: after a restart of bluetoothd, or the loss of the bus, all that was registered is dead
/// (https://github.com/project-chip/connectedhomeip/issues/32847, https://github.com/hbldh/bleak/issues/2012). The bus,
/// the daemon and the snapshot come back by themselves.
// Invariant: all variables are touched on `queue` only, but for `phase`, which has a lock.
final class BlueZDaemon: @unchecked Sendable {
    static let name = ObjectModel.daemonName

    /// The pauses before a lost bus is tried again.
    private static let reconnectPauses: [Duration] = [.milliseconds(500), .seconds(2), .seconds(5), .seconds(15)]

    /// Distinguishes the queue of a daemon from all others.
    private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    /// The connection to the message bus.
    private struct Bus {
        var connection: DBusConnection?
        var subscriptions: [DBusSubscription] = []
        /// Attempts to connect that failed in a row.
        var failures = 0
    }

    /// The daemon's presence on the bus.
    private struct Service {
        /// The unique name of the daemon.
        var owner: String?
        /// Whether this owner's objects were read.
        var hasSnapshot = false
        /// Whether any owner's were.
        var wasReady = false
    }

    /// A turn of the queue, in which messages, or values on sockets, are handled.
    private struct Turn {
        /// The deliveries that they caused.
        var deliveries: [any PendingDelivery] = []
        var isReadingSockets = false
    }

    let queue = DispatchQueue(label: "BlueZ")
    /// What the daemon exports.
    let objects = ObjectModel()
    /// What this process exports, to the daemon's owner alone.
    let exports = DBusObjectServer()
    private let address: DBusAddress
    private let timings: BlueZTimings
    private let phase = Lock(DaemonPhase.probing)
    private var bus = Bus()
    private var service = Service()
    private var isStarted = false
    private var lastWarning: String?
    /// Clients hold the daemon, and not the other way round.
    private var weakClients: [WeakClient] = []
    private var turn = Turn()

    init(address: DBusAddress, timings: BlueZTimings) {
        self.address = address
        self.timings = timings
        queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(self))
    }

    deinit { bus.connection?.close() }

    /// Does something in the queue's turn: on this very thread where the queue is idle, and else when it is.
    ///
    /// From the queue itself: soon. Nothing on the queue ever waits for anybody.
    func run(_ body: @escaping @Sendable () -> Void) {
        if isOnQueue { queue.async(execute: body) } else { queue.sync(execute: body) }
    }

    /// Reads something in the queue's turn, which is now where the queue itself asks.
    func query<Answer>(_ body: () -> Answer) -> Answer {
        isOnQueue ? body() : queue.sync(execute: body)
    }

    private var isOnQueue: Bool { DispatchQueue.getSpecific(key: Self.queueKey) == ObjectIdentifier(self) }

    /// What is known of the daemon.
    ///
    /// Any thread.
    var currentPhase: DaemonPhase { phase.withLock { $0 } }

    // MARK: Clients, on the queue

    private struct WeakClient {
        weak var client: (any DaemonClient)?
    }

    private func send(_ event: DaemonEvent) {
        for entry in weakClients { entry.client?.receive(event) }
    }

    /// Adds a client, and brings it up to date.
    func add(_ client: any DaemonClient) {
        weakClients.removeAll { $0.client == nil }
        weakClients.append(WeakClient(client: client))
        guard isStarted else {
            isStarted = true
            return openBus()
        }
        client.receive(.phase(currentPhase))
        if currentPhase == .ready { client.receive(.snapshot(objects.contents)) }
    }

    /// Calls a method of the daemon; fails at once while there is none.
    func call(_ call: MethodCall, completion: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void) {
        guard let connection = bus.connection, let owner = service.owner else {
            let error = DBusError(name: DBusError.Name.serviceUnknown, message: "bluetoothd is not running")
            return queue.async { completion(.failure(error)) }
        }
        do throws(DBusError) {
            let message = try DBusMessage.methodCall(
                to: owner, path: call.path, interface: call.interface, member: call.member, call.body)
            connection.call(message, deadline: call.deadline) { reply in
                completion(reply.values)
            }
        } catch {
            queue.async { completion(.failure(error)) }
        }
    }

    // MARK: Deliveries, on the queue

    /// Has events handled that a manager's mailbox took in: at the end of the turn, where messages are being handled.
    func deliver(_ delivery: any PendingDelivery) {
        let isBatch = turn.isReadingSockets || bus.connection?.isProcessingBatch == true
        if isBatch { turn.deliveries.append(delivery) } else { delivery.start() }
    }

    /// Handles what the daemon's sockets had to read, like a batch of messages.
    ///
    /// - Parameter body: Processes the inputs.
    /// - Returns: Work for the calling thread, off the queue.
    func processBatch(_ allowsInline: Bool, _ body: () -> Void) -> SocketPoller.InlineWork? {
        turn.isReadingSockets = true
        body()
        turn.isReadingSockets = false
        return batchEnded(allowsInline)
    }

    /// What comes alone is handled by the thread that read it: waking another one costs more than all else.
    ///
    /// What comes in crowds wakes each manager's queue once, and is handled while the next messages are read.
    private func batchEnded(_ allowsInline: Bool) -> (@Sendable () -> Void)? {
        let ready = turn.deliveries
        turn.deliveries = []
        if allowsInline, ready.count == 1, let alone = ready.first { return { alone.run() } }
        for delivery in ready { delivery.start() }
        return nil
    }

    // MARK: Bus

    private func openBus() {
        DBusConnection.open(address, queue: queue) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let connection): self.opened(connection)
            case .failure(let error): self.busFailed(error)
            }
        }
    }

    private func opened(_ connection: DBusConnection) {
        bus.failures = 0
        self.bus.connection = connection
        objects.passesDescriptors = connection.passesDescriptors
        exports.attach(to: connection)
        connection.onDisconnect { [weak self] error in self?.busLost(error) }
        connection.onBatchEnd { [weak self] allowsInline in self?.batchEnded(allowsInline) }
        bus.subscriptions = ObjectModel.matchRules.map { rule in
            connection.subscribe(rule) { [weak self] message in
                self?.received(message)
            } completion: { [weak self] added in
                if case .failure(let error) = added { self?.warn("signals of bluetoothd are refused", error) }
            }
        }
        bus.subscriptions.append(
            connection.watchOwner(of: Self.name) { [weak self] owner in self?.ownerChanged(owner) })
    }

    private func busFailed(_ error: DBusError) {
        let isDenied = Self.isDenied(error)
        let isMissing = error.name == DBusError.Name.notSupported
        warn(
            isDenied
                ? "the message bus refuses this process"
                : isMissing ? "the message bus cannot be used" : "no message bus", error)
        setPhase(isDenied ? .denied : service.wasReady ? .lost : .absent)
        let pause = Self.reconnectPauses[min(bus.failures, Self.reconnectPauses.count - 1)]
        bus.failures += 1
        // There may be no descriptor for a timer.
        DispatchEventLoop.run(after: pause.dispatchInterval, on: queue) { [weak self] in self?.openBus() }
    }

    private func busLost(_ error: DBusError) {
        forgetOwner()
        bus.subscriptions = []
        exports.attach(to: nil)
        bus.connection = nil
        busFailed(error)
    }

    /// BlueZ pitfall: in a container the bus may reject the user, or its policy the call
    /// (https://github.com/home-assistant/core/issues/76392): `.unauthorized`, and one line that says so.
    private static func isDenied(_ error: DBusError) -> Bool {
        error.name == DBusError.Name.accessDenied || error.name == DBusError.Name.authenticationFailed
    }

    // MARK: Daemon

    private func ownerChanged(_ result: Result<String?, DBusError>) {
        switch result {
        case .success(let name?):
            guard name != service.owner else { return }
            forgetOwner()
            service.owner = name
            exports.serve(only: name)
            refresh()
        case .success(nil):
            let wasThere = service.owner != nil
            forgetOwner()
            if wasThere { setPhase(.lost) } else { activate() }
        case .failure(let error): daemonFailed(error)
        }
    }

    private func forgetOwner() {
        service.owner = nil
        exports.serve(only: nil)
        service.hasSnapshot = false
    }

    /// Asks the bus to start the daemon, where it is set up to be.
    private func activate() {
        guard let connection = bus.connection else { return }
        do throws(DBusError) {
            let message = try DBusMessage.methodCall(
                to: BusDriver.name, path: .root, interface: BusDriver.name, member: "StartServiceByName",
                [.string(Self.name), .uint32(0)])
            connection.call(message, deadline: timings.activation) { [weak self] reply in
                // Success shows in the owner.
                if case .failure(let error) = reply { self?.daemonFailed(error) }
            }
        } catch {
            daemonFailed(error)
        }
    }

    private func daemonFailed(_ error: DBusError) {
        guard service.owner == nil || !service.hasSnapshot else { return }
        let isDenied = Self.isDenied(error)
        let cause =
            if isDenied {
                "bluetoothd may not be used by this user: see the bus policy and the group \"bluetooth\""
            } else if service.owner != nil {
                "bluetoothd does not list its objects: restart it"
            } else {
                "bluetoothd is not running: install and start the package \"bluez\""
            }
        warn(cause, error)
        setPhase(isDenied ? .denied : service.wasReady ? .lost : .absent)
    }

    /// Reads all objects, for all roles at once.
    ///
    /// BlueZ pitfall: with thousands of devices each snapshot costs (https://github.com/hbldh/bleak/issues/500): there
    /// is one per daemon, and one more where services do not come that were promised.
    ///
    /// Signals that come before the reply are in it already: the daemon sends what is pending before it replies.
    func refresh() {
        guard let owner = service.owner, let connection = bus.connection else { return }
        do throws(DBusError) {
            let message = try DBusMessage.methodCall(
                to: owner, path: .root, interface: ObjectModel.objectManager, member: "GetManagedObjects")
            connection.call(message, deadline: timings.snapshot) { [weak self] reply in
                self?.snapshotReplied(reply, from: owner)
            }
        } catch {
            daemonFailed(error)
        }
    }

    private func snapshotReplied(_ reply: Result<DBusMessage, DBusError>, from owner: String) {
        guard owner == self.service.owner else { return }
        do throws(DBusError) {
            let changes = try objects.replace(with: reply.get())
            let isNew = !service.hasSnapshot
            service.hasSnapshot = true
            service.wasReady = true
            lastWarning = nil
            if isNew || currentPhase != .ready { setPhase(.ready) }
            send(.phase(.ready))
            send(.snapshot(changes))
        } catch {
            daemonFailed(error)
            queue.asyncAfter(deadline: .now() + timings.snapshotRetry.dispatchInterval) { [weak self] in
                if self?.service.owner == owner { self?.refresh() }
            }
        }
    }

    private func received(_ message: DBusMessage) {
        // Only the present owner is believed, whatever rule let the signal through.
        guard service.hasSnapshot, let owner = service.owner, message.isSent(by: owner) else { return }
        do throws(DBusError) {
            let changes = try objects.apply(message)
            if !changes.isEmpty { send(.changed(changes)) }
        } catch {
            BlueZLog.warning("a signal of bluetoothd makes no sense and is ignored: \(error)")
        }
    }

    private func setPhase(_ new: DaemonPhase) {
        phase.withLock { $0 = new }
        guard new != .ready else { return }
        objects.removeAll()
        send(.phase(new))
    }

    /// One line for each cause, not for each attempt.
    private func warn(_ text: String, _ error: DBusError) {
        let line = "\(text) (\(error))"
        guard line != lastWarning else { return }
        lastWarning = line
        BlueZLog.warning(line)
    }
}
#endif
