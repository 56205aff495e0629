#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch

/// The connection to `bluetoothd`: the bus, the owner of the daemon's name, and its objects.
///
/// It serves all roles and all exported objects of a backend.
///
/// Everything runs on one serial queue, which runs no app code: inputs are passed on to the managers' queues, so
/// signals do not pile up in the bus, and a command runs on the thread that gives it. The thread that reads the bus may
/// also run a manager's work, but off this queue, and while another thread is ready to read.
///
/// BlueZ pitfall: slow readers lose notifications (https://github.com/hbldh/bleak/issues/1343).
///
/// BlueZ pitfall: after a restart of bluetoothd, or the loss of the bus, all registrations are gone
/// (https://github.com/project-chip/connectedhomeip/issues/32847, https://github.com/hbldh/bleak/issues/2012). This
/// class restores the bus, the daemon and the snapshot by itself.
// Invariant: all variables are used on `queue` only, except `phase`, which has a lock.
final class BlueZDaemon: @unchecked Sendable {
    static let name = ObjectModel.daemonName

    /// The pauses before a lost bus is tried again.
    private static let reconnectPauses: [Duration] = [.milliseconds(500), .seconds(2), .seconds(5), .seconds(15)]

    /// The key that identifies the queue of a daemon.
    private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    /// The connection to the message bus.
    private struct Bus {
        var connection: DBusConnection?
        var subscriptions: [DBusSubscription] = []
        /// The number of attempts to connect that failed in a row.
        var failures = 0
    }

    /// The daemon's presence on the bus.
    private struct Service {
        /// The unique name of the daemon.
        var owner: String?
        /// Whether the objects of this owner were read.
        var hasSnapshot = false
        /// Whether the objects of any owner were read.
        var wasReady = false
    }

    /// A batch of messages, or of values on sockets, that the queue handles together.
    private struct Batch {
        /// The deliveries that the batch caused.
        var deliveries: [any PendingDelivery] = []
        var isReadingSockets = false
    }

    let queue = DispatchQueue(label: "BlueZ")
    /// The objects that the daemon exports.
    let objects = ObjectModel()
    /// The objects that this process exports, to the daemon's owner alone.
    let exports = DBusObjectServer()
    private let address: DBusAddress
    private let timings: BlueZTimings
    private let phase = Lock(DaemonPhase.probing)
    private var bus = Bus()
    private var service = Service()
    private var isStarted = false
    private var lastWarning: String?
    /// The clients, which retain the daemon; the daemon holds them weakly.
    private var weakClients: [WeakClient] = []
    private var batch = Batch()

    init(address: DBusAddress, timings: BlueZTimings) {
        self.address = address
        self.timings = timings
        queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(self))
    }

    deinit { bus.connection?.close() }

    /// Runs `body` on the queue: inline on this thread if the queue is idle, otherwise when it is.
    ///
    /// A call on the queue itself runs `body` later.
    func run(_ body: @escaping @Sendable () -> Void) {
        if isOnQueue { queue.async(execute: body) } else { queue.sync(execute: body) }
    }

    /// Returns the result of `body`, which runs on the queue; a call on the queue runs it inline.
    func query<Answer>(_ body: () -> Answer) -> Answer {
        isOnQueue ? body() : queue.sync(execute: body)
    }

    private var isOnQueue: Bool { DispatchQueue.getSpecific(key: Self.queueKey) == ObjectIdentifier(self) }

    /// The state of the daemon.
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

    /// Adds a client, and sends it the current state.
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

    /// Calls a method of the daemon; fails immediately while the daemon is absent.
    func call(_ call: MethodCall, completion: @escaping @Sendable (Result<MethodReply, DBusError>) -> Void) {
        guard let connection = bus.connection, let owner = service.owner else {
            let error = DBusError(name: DBusError.Name.serviceUnknown, message: "bluetoothd is not running")
            return queue.async { completion(.failure(error)) }
        }
        connection.call(try call.message(to: owner), deadline: call.deadline) { reply in
            completion(reply.map { Self.decode($0, of: call) })
        }
    }

    private static func decode(_ reply: DBusMessage, of call: MethodCall) -> MethodReply {
        do throws(DBusError) {
            return try call.decode(reply)
        } catch {
            BlueZLog.debug("the reply of \(call.member) makes no sense: \(error)")
            return .empty
        }
    }

    // MARK: Deliveries, on the queue

    /// Delivers the events that an inbox accepted: at the end of the batch, if one is being handled.
    func deliver(_ delivery: any PendingDelivery) {
        let isBatch = batch.isReadingSockets || bus.connection?.isProcessingBatch == true
        if isBatch { batch.deliveries.append(delivery) } else { delivery.start() }
    }

    /// Handles input from the daemon's sockets like a batch of messages.
    ///
    /// - Parameter body: Processes the input.
    /// - Returns: Work for the calling thread, off the queue.
    func processBatch(_ allowsInline: Bool, _ body: () -> Void) -> InlineWork? {
        batch.isReadingSockets = true
        body()
        batch.isReadingSockets = false
        return batchEnded(allowsInline)
    }

    /// Returns a single delivery as work for the polling thread, because waking another thread costs more.
    ///
    /// Several deliveries each wake their manager's queue, which runs while the next messages are read.
    private func batchEnded(_ allowsInline: Bool) -> (@Sendable () -> Void)? {
        let ready = batch.deliveries
        batch.deliveries = []
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
        // The process may have no descriptor left for a timer.
        DispatchEventLoop.run(after: pause.dispatchInterval, on: queue) { [weak self] in self?.openBus() }
    }

    private func busLost(_ error: DBusError) {
        forgetOwner()
        bus.subscriptions = []
        exports.attach(to: nil)
        bus.connection = nil
        busFailed(error)
    }

    /// Whether the bus or its policy refuses this process.
    ///
    /// BlueZ pitfall: in a container the bus may reject the user, or its policy the call
    /// (https://github.com/home-assistant/core/issues/76392): the state is `.unauthorized`, and one line of the log
    /// reports it.
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

    /// Asks the bus to start the daemon, which works if the system is configured for it.
    private func activate() {
        bus.connection?.callBus(
            "StartServiceByName", [.string(Self.name), .uint32(0)], deadline: timings.activation
        ) { [weak self] reply in
            // Success is reported as a new owner.
            if case .failure(let error) = reply { self?.daemonFailed(error) }
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

    /// Reads all objects, for all roles.
    ///
    /// BlueZ pitfall: with thousands of devices each snapshot is expensive (https://github.com/hbldh/bleak/issues/500):
    /// the daemon is asked once, and again only if announced services do not appear.
    ///
    /// The reply includes the signals that arrive before it: the daemon sends what is pending before it replies.
    func refresh() {
        guard let owner = service.owner, let connection = bus.connection else { return }
        connection.call(
            try .methodCall(to: owner, path: .root, interface: ObjectModel.objectManager, member: "GetManagedObjects"),
            deadline: timings.snapshot
        ) { [weak self] reply in
            self?.snapshotReplied(reply, from: owner)
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
            queue.asyncAfter(machineDeadline: .now() + timings.snapshotRetry.dispatchInterval) { [weak self] in
                if self?.service.owner == owner { self?.refresh() }
            }
        }
    }

    private func received(_ message: DBusMessage) {
        // A signal counts only if it is the current owner's, whichever rule let it through.
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

    /// Writes one line per cause, not per attempt.
    private func warn(_ text: String, _ error: DBusError) {
        let line = "\(text) (\(error))"
        guard line != lastWarning else { return }
        lastWarning = line
        BlueZLog.warning(line)
    }
}
#endif
