import BluetoothLocking
public import CoreBluetooth
public import Logging

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
    let core: ServerCoordinator
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
    ///   - onEvent: Receives what happens, on the queue or on the thread that sends a value; must return quickly.
    public init(
        queue: DispatchQueue? = nil, restoreIdentifier: String? = nil, restoring services: [ServedService] = [],
        offer: ServedOffer? = nil, settings: Settings = Settings(), taskExecutor: (any TaskExecutor)? = nil,
        onRestore: (@Sendable (RestoredServer) -> Void)? = nil, onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.offer = offer
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth server"))
        core = ServerCoordinator(
            executor: taskExecutor ?? executor, settings: settings, restoring: services, onRestore: onRestore,
            onEvent: onEvent)
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
    ///   - onEvent: Receives what happens, on the queue or on the thread that sends a value; must return quickly.
    public init(
        queue: DispatchQueue? = nil, backend: CBBackendSelection? = nil, restoreIdentifier: String? = nil,
        restoring services: [ServedService] = [], offer: ServedOffer? = nil, settings: Settings = Settings(),
        taskExecutor: (any TaskExecutor)? = nil, onRestore: (@Sendable (RestoredServer) -> Void)? = nil,
        onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.offer = offer
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth server"))
        core = ServerCoordinator(
            executor: taskExecutor ?? executor, settings: settings, restoring: services, onRestore: onRestore,
            onEvent: onEvent)
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
    public var state: CBManagerState { core.withState { $0.adapter.state } }

    /// The adapter's state now, and each that follows.
    public var states: EventSequence<CBManagerState> {
        let core = core
        let manager = manager
        return EventSequence {
            let (buffer, number) = core.withState { state in
                let number = state.newNumber()
                // Made under the lock, so that no change comes before the present state.
                let buffer = ElementBuffer(
                    core.settings.buffering, core.context(.publish), core.log, first: state.adapter.state)
                state.buffers.states[number] = buffer
                return (buffer, number)
            }
            return ElementReader(
                buffer,
                onDeinit: DeinitAction {
                    core.withState { $0.buffers.states[number] = nil }
                    withExtendedLifetime(manager) {}
                })
        }
    }

    /// Waits until the adapter can be used.
    public func waitUntilPoweredOn() async throws {
        try await BluetoothError.run(core.context(.publish)) { [core] in try await core.ready() }
    }
}

extension PeripheralServer {
    /// What can be set for a server.
    public struct Settings: Sendable {
        /// Where log lines go; nil for a logger of label `AsyncBluetooth`.
        public var logger: Logger?
        /// The most time that ``PeripheralServer/add(_:)``, ``PeripheralServer/startAdvertising(name:services:)``,
        /// ``PeripheralServer/notify(_:of:to:)`` and ``PeripheralServer/publishChannel(isEncryptionRequired:)`` may take,
        /// the wait for the adapter included; nil for no limit.
        ///
        /// Beyond it they throw ``BluetoothError/Reason/timedOut(_:)``.
        public var operationTimeout: Duration?
        /// The most time that a handler may take; nil for no limit.
        ///
        /// Beyond it the handler's task is cancelled, and the device gets `.unlikelyError`. The default is what ATT allows:
        /// after 30 s the other side gives the request up (Core Specification, Vol 3, Part F, 3.3.3).
        public var handlerTimeout: Duration?
        /// How many handlers may run at once, at least 1.
        ///
        /// Further requests are refused with `.insufficientResources`, and further writes without response are dropped;
        /// the first one is logged at level `warning`.
        public var handlerLimit: Int
        /// How many values of ``PeripheralServer/send(_:of:)`` may wait for subscribers, at least 1.
        ///
        /// Further ones are dropped; the first one is logged at level `warning`.
        public var updateLimit: Int
        /// How many events ``PeripheralServer/states`` and ``PeripheralServer/subscriptions`` keep for a consumer.
        public var buffering: BufferingPolicy
        /// How many open channels ``PeripheralServer/channels`` keeps for a consumer; further ones are closed.
        public var channelLimit: Int

        /// Makes settings; what is left out has the value that is described with it.
        public init(
            logger: Logger? = nil, operationTimeout: Duration? = nil, handlerTimeout: Duration? = .seconds(30),
            handlerLimit: Int = 128, updateLimit: Int = 1024, buffering: BufferingPolicy = .standard,
            channelLimit: Int = 32
        ) {
            self.logger = logger
            self.operationTimeout = operationTimeout
            self.handlerTimeout = handlerTimeout
            self.handlerLimit = handlerLimit
            self.updateLimit = updateLimit
            self.buffering = buffering
            self.channelLimit = channelLimit
        }
    }
}

extension PeripheralServer {
    /// An event at a server, for logs and tools; handlers and sequences do the work.
    public enum Event: Sendable {
        /// The adapter's state changed.
        case stateChanged(CBManagerState)
        /// Services were published: one by ``PeripheralServer/add(_:)``, all of the offer by ``PeripheralServer/run()``.
        case published([ServiceID])
        /// An advertisement with these services was started.
        case advertising(services: [CBUUID])
        /// A device read a characteristic: the bytes from the requested offset on, or the error that it received.
        case read(RemoteCentral, CharacteristicID, Result<Data, CBATTError>)
        /// A device wrote a characteristic; `error` is the refusal that it received, nil if the write was accepted.
        case wrote(WriteRequest, CharacteristicID, error: CBATTError?)
        /// A device subscribed to a characteristic.
        case subscribed(RemoteCentral, CharacteristicID)
        /// A device unsubscribed from a characteristic, or its link ended.
        case unsubscribed(RemoteCentral, CharacteristicID)
        /// A value was handed to the system for the subscribers.
        case notified(CharacteristicID, Data)
        /// ``PeripheralServer/run()`` ends with this error.
        case failed(BluetoothError)
    }
}

/// The state that the system preserved for the ``PeripheralServer`` of an earlier process.
public struct RestoredServer: Sendable {
    /// The services that are still published.
    public let services: [ServiceID]
    /// Those of them for which the new server has no handlers: requests are refused until they are removed.
    public let unanswered: [ServiceID]
    /// The advertisement that is still running; nil if there is none.
    public let advertisement: AdvertisedData?
}
