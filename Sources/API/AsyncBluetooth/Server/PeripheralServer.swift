import BluetoothSupport
public import CoreBluetooth
public import Logging

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// A peripheral that offers services to other devices, with handlers that are `async`.
///
/// A thin layer over a `CBPeripheralManager`. Any thread and any actor may use it. Operations wait while the adapter's
/// state is `unknown` or `resetting`, and throw if it is `unsupported`, `unauthorized` or `poweredOff`. The release of
/// the last reference withdraws everything and cancels handlers. Handlers run in separate tasks, several at a time.
public final class PeripheralServer: Sendable {
    let core: ServerCoordinator
    let manager: Unchecked<CBPeripheralManager>
    /// The services and the advertisement of ``run()``.
    let offer: ServedOffer?
    /// The executor of callbacks, and of handlers unless another executor was given.
    public let executor: QueueExecutor

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for callbacks; nil creates one.
    ///   - backend: The backend; nil for the one that is selected for the task or the process. Linux only.
    ///   - restoreIdentifier: The identifier under which the system preserves state for a later process; nil for none.
    ///   - services: The descriptions with handlers for restored services; the first one with the same UUIDs in the
    ///     same order is used.
    ///   - offer: The services and the advertisement of ``run()``.
    ///   - settings: Log, timeouts and limits.
    ///   - taskExecutor: The executor of handlers; nil for the queue.
    ///   - onRestore: Receives the restored state, on the queue, before any other event.
    ///   - onEvent: Receives events, on the queue or on the thread that sends a value; must return quickly.
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
        let (core, queue) = (core, executor.queue)
        let options = restoreIdentifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] }
        let manager =
            backend.map { CBPeripheralManager(backend: $0, delegate: core, queue: queue, options: options) }
            ?? CBPeripheralManager(delegate: core, queue: queue, options: options)
        #if !canImport(Darwin)
        executor.follow(ManagerQueue(of: manager))
        #endif
        self.manager = Unchecked(manager)
    }

    deinit { core.abandon(manager.value) }

    /// The adapter's state.
    public var state: CBManagerState { core.withState { $0.adapter.state } }

    /// The adapter's present state, then each change.
    public var states: EventSequence<CBManagerState> { core.states.sequence(retaining: (core, manager)) }

    /// Waits until the adapter is powered on.
    public func waitUntilPoweredOn() async throws {
        try await BluetoothError.run(BluetoothError.Context(.publish)) { [core] in try await core.ready() }
    }
}

extension PeripheralServer {
    /// The settings of a server.
    public struct Settings: Sendable {
        /// The logger; nil for one of label `AsyncBluetooth`.
        public var logger: Logger?
        /// The maximum duration of ``PeripheralServer/add(_:)``, ``PeripheralServer/startAdvertising(name:services:)``,
        /// ``PeripheralServer/notify(_:of:to:)`` and ``PeripheralServer/publishChannel(isEncryptionRequired:)``,
        /// including the wait for the adapter; nil for no limit.
        ///
        /// After it they throw ``BluetoothError/Reason/timedOut(_:)``.
        public var operationTimeout: Duration?
        /// The maximum duration of a handler; nil for no limit.
        ///
        /// After it the handler's task is cancelled, and the device receives `.unlikelyError` as soon as the handler
        /// has returned: a handler must end when its task is cancelled. The default is ATT's limit: the other side
        /// abandons a request after 30 s (Core Specification, Vol 3, Part F, 3.3.3).
        public var handlerTimeout: Duration?
        /// The number of handlers that may run at once, at least 1.
        ///
        /// Further requests are refused with `.insufficientResources`, and further writes without response are dropped;
        /// the first one is logged at level `warning`.
        public var handlerLimit: Int
        /// The number of values of ``PeripheralServer/send(_:of:to:)`` that may wait for subscribers, at least 1.
        ///
        /// Further ones are dropped; the first one is logged at level `warning`.
        public var updateLimit: Int
        /// The number of events of ``PeripheralServer/states`` and ``PeripheralServer/subscriptions`` that wait for a
        /// consumer.
        public var buffering: BufferingPolicy
        /// The number of open channels of ``PeripheralServer/channels`` that wait for a consumer; further ones are
        /// closed.
        public var channelLimit: Int

        /// Creates settings; the defaults are described with the properties.
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
        /// Services were published: one by ``PeripheralServer/add(_:)``, all of the offer by
        /// ``PeripheralServer/run()``.
        case published([ServiceID])
        /// An advertisement with these services was started.
        case advertising(services: [CBUUID])
        /// A device read a characteristic: the bytes from the requested offset on, or the error that it received.
        case read(RemoteCentral, CharacteristicID, offset: Int, Result<Data, CBATTError>)
        /// A device wrote a characteristic; `error` is the refusal that it received, nil if the write was accepted.
        case wrote(WriteRequest, CharacteristicID, error: CBATTError?)
        /// A device subscribed to a characteristic.
        case subscribed(RemoteCentral, CharacteristicID)
        /// A device unsubscribed from a characteristic, or its link ended.
        case unsubscribed(RemoteCentral, CharacteristicID)
        /// A value was handed to the system for the subscribers with these identifiers; nil for all of them.
        case notified(CharacteristicID, Data, to: Set<UUID>?)
        /// ``PeripheralServer/run()`` ends with this error.
        case failed(BluetoothError)
    }
}

/// The state that the system preserved for the ``PeripheralServer`` of an earlier process.
public struct RestoredServer: Sendable {
    /// The services that are still published.
    public let services: [ServiceID]
    /// Restored services without handlers in the new server: requests are refused until they are removed.
    public let unanswered: [ServiceID]
    /// The advertisement that is still running; nil without one.
    public let advertisement: AdvertisedData?
}
