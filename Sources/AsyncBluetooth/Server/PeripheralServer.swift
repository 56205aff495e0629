import BluetoothLocking
public import CoreBluetooth

#if canImport(CoreBluetoothPackage)
import CoreBluetoothPackage
#endif

/// Offers services to other devices, with handlers that are `async`.
///
/// A thin layer over a `CBPeripheralManager` of its own. Any thread and any actor may use it. Operations wait while
/// the adapter's state is `unknown` or `resetting`, and throw where it is `unsupported`, `unauthorized` or `poweredOff`.
/// All is withdrawn, and handlers are cancelled, when the last reference goes. Handlers run in tasks of their own,
/// several at a time.
public final class PeripheralServer: Sendable {
    let core: ServerCore
    let manager: Unchecked<CBPeripheralManager>
    /// What ``run()`` publishes.
    let offer: ServedOffer?
    /// Where callbacks come, and where handlers run unless another executor was given.
    public let executor: QueueExecutor

    #if canImport(Darwin)
    /// Makes a server.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for callbacks; nil makes one.
    ///   - restoreIdentifier: Under which the system restores what an earlier process left.
    ///   - services: What answers for restored services: the first one whose UUIDs are the same, in the same order.
    ///   - offer: What ``run()`` publishes and advertises.
    ///   - settings: Log, timeouts and limits.
    ///   - taskExecutor: Where handlers run; nil for the queue.
    ///   - onRestore: Receives the restored state, on the queue, before any other event.
    public init(
        queue: DispatchQueue? = nil, restoreIdentifier: String? = nil, restoring services: [ServedService] = [],
        offer: ServedOffer? = nil, settings: Settings = Settings(), taskExecutor: (any TaskExecutor)? = nil,
        onRestore: (@Sendable (RestoredServer) -> Void)? = nil
    ) {
        self.offer = offer
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth server"))
        core = ServerCore(
            executor: taskExecutor ?? executor, settings: settings, restoring: services, onRestore: onRestore)
        manager = Unchecked(
            CBPeripheralManager(delegate: core, queue: executor.queue, options: Self.options(restoreIdentifier)))
    }
    #else
    /// Makes a server.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for callbacks; nil makes one.
    ///   - backend: The radio; nil for the one that is chosen for the task or the process.
    ///   - restoreIdentifier: Under which the system restores what an earlier process left.
    ///   - services: What answers for restored services: the first one whose UUIDs are the same, in the same order.
    ///   - offer: What ``run()`` publishes and advertises.
    ///   - settings: Log, timeouts and limits.
    ///   - taskExecutor: Where handlers run; nil for the queue.
    ///   - onRestore: Receives the restored state, on the queue, before any other event.
    public init(
        queue: DispatchQueue? = nil, backend: CBBackendSelection? = nil, restoreIdentifier: String? = nil,
        restoring services: [ServedService] = [], offer: ServedOffer? = nil, settings: Settings = Settings(),
        taskExecutor: (any TaskExecutor)? = nil, onRestore: (@Sendable (RestoredServer) -> Void)? = nil
    ) {
        self.offer = offer
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth server"))
        core = ServerCore(
            executor: taskExecutor ?? executor, settings: settings, restoring: services, onRestore: onRestore)
        let options = Self.options(restoreIdentifier)
        let manager =
            if let backend {
                CBPeripheralManager(backend: backend, delegate: core, queue: executor.queue, options: options)
            } else {
                CBPeripheralManager(delegate: core, queue: executor.queue, options: options)
            }
        executor.follow(ManagerClock(of: manager))
        self.manager = Unchecked(manager)
    }
    #endif

    private static func options(_ restoreIdentifier: String?) -> [String: Any]? {
        restoreIdentifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] }
    }

    deinit { core.abandon(manager.value) }

    /// The adapter's state.
    public var state: CBManagerState { core.withState { $0.managerState } }

    /// The adapter's state now, and each that follows.
    public var states: EventSequence<CBManagerState> {
        let core = core
        let manager = manager
        return EventSequence {
            let (buffer, number) = core.withState { state in
                let number = state.newNumber()
                // Made under the lock, so that no change comes before the present state.
                let buffer = ElementBuffer(
                    core.settings.buffering, core.context(.publish), core.log, first: state.managerState)
                state.stateBuffers[number] = buffer
                return (buffer, number)
            }
            return ElementReader(
                buffer,
                onDeinit: DeinitAction {
                    core.withState { $0.stateBuffers[number] = nil }
                    withExtendedLifetime(manager) {}
                })
        }
    }

    /// Waits until the adapter can be used.
    public func waitUntilPoweredOn() async throws {
        try await BluetoothError.run(core.context(.publish)) { [core] in try await core.ready() }
    }
}
