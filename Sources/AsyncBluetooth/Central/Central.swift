import BluetoothLocking
public import CoreBluetooth

#if canImport(CoreBluetoothPackage)
import CoreBluetoothPackage
#endif

/// Finds devices and talks to them, with `async` and `await`.
///
/// A thin layer over a `CBCentralManager` of its own. Any thread and any actor may use it. Its state changes on the
/// manager's dispatch queue and under a lock; what it awaits goes on wherever the awaiting task runs. Operations wait
/// while the adapter's state is `unknown` or `resetting`, and throw where it is `unsupported`, `unauthorized` or
/// `poweredOff`.
public final class Central: Sendable {
    let radio: CentralRadio
    /// Where this central's own tasks run, and where callbacks come.
    ///
    /// A task that prefers it, by `withTaskExecutorPreference`, changes no thread between a command and its answer.
    public let executor: QueueExecutor

    #if canImport(Darwin)
    /// Makes a central.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for callbacks; nil makes one.
    ///   - restoreIdentifier: Under which the system restores what an earlier process left.
    ///   - settings: Log, timeouts and limits.
    ///   - taskExecutor: Where this central's own tasks run; nil for its queue.
    ///   - onRestore: Receives the restored state, on the queue, before any other event. Keep its peripherals.
    public init(
        queue: DispatchQueue? = nil, restoreIdentifier: String? = nil, settings: Settings = Settings(),
        taskExecutor: (any TaskExecutor)? = nil, onRestore: (@Sendable (RestoredState) -> Void)? = nil
    ) {
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth"))
        let core = CentralCore(executor: taskExecutor ?? executor, settings: settings, onRestore: onRestore)
        let manager = CBCentralManager(
            delegate: core, queue: executor.queue, options: Self.options(restoreIdentifier))
        radio = CentralRadio(core: core, manager: Unchecked(manager))
    }
    #else
    /// Makes a central.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for callbacks; nil makes one.
    ///   - backend: The radio; nil for the one that is chosen for the task or the process.
    ///   - restoreIdentifier: Under which the system restores what an earlier process left.
    ///   - settings: Log, timeouts and limits.
    ///   - taskExecutor: Where this central's own tasks run; nil for its queue.
    ///   - onRestore: Receives the restored state, on the queue, before any other event. Keep its peripherals.
    public init(
        queue: DispatchQueue? = nil, backend: CBBackendSelection? = nil, restoreIdentifier: String? = nil,
        settings: Settings = Settings(), taskExecutor: (any TaskExecutor)? = nil,
        onRestore: (@Sendable (RestoredState) -> Void)? = nil
    ) {
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth"))
        let core = CentralCore(executor: taskExecutor ?? executor, settings: settings, onRestore: onRestore)
        let options = Self.options(restoreIdentifier)
        let manager =
            if let backend {
                CBCentralManager(backend: backend, delegate: core, queue: executor.queue, options: options)
            } else {
                CBCentralManager(delegate: core, queue: executor.queue, options: options)
            }
        executor.follow(ManagerClock(of: manager))
        radio = CentralRadio(core: core, manager: Unchecked(manager))
    }
    #endif

    private static func options(_ restoreIdentifier: String?) -> [String: Any]? {
        restoreIdentifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
    }

    // MARK: State

    /// The adapter's state.
    public var state: CBManagerState { radio.core.managerState }

    /// The adapter's state now, and each that follows.
    public var states: EventSequence<CBManagerState> {
        let core = radio.core
        let manager = radio.manager
        return EventSequence {
            let (buffer, number) = core.addStateBuffer()
            return ElementReader(
                buffer,
                onDeinit: DeinitAction {
                    core.removeStateBuffer(number)
                    withExtendedLifetime(manager) {}
                })
        }
    }

    /// Waits until the adapter can be used.
    ///
    /// - Throws: ``BluetoothError/Reason/unavailable(_:)`` in a state that does not pass by itself.
    public func waitUntilPoweredOn() async throws {
        try await run(BluetoothError.Context(.connect)) { [radio] in try await radio.core.ready() }
    }

    /// Runs an operation for as long as the settings allow, and completes its errors.
    func run<Result: Sendable>(
        _ context: @autoclosure () -> BluetoothError.Context, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await BluetoothError.run(
            context(), within: radio.core.settings.operationTimeout, clock: radio.clock, body)
    }
}
