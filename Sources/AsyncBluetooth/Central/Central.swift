import BluetoothLocking
public import CoreBluetooth

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
    ///   - taskExecutor: Where this central's own tasks run; nil for its queue.
    ///   - onRestore: Is given what is restored, on the queue, before any other event. Keep the peripherals.
    public init(
        queue: DispatchQueue? = nil, restoreIdentifier: String? = nil, taskExecutor: (any TaskExecutor)? = nil,
        onRestore: (@Sendable (RestoredState) -> Void)? = nil
    ) {
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth"))
        let core = CentralCore(executor: taskExecutor ?? executor, onRestore: onRestore)
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
    ///   - taskExecutor: Where this central's own tasks run; nil for its queue.
    ///   - onRestore: Is given what is restored, on the queue, before any other event. Keep the peripherals.
    public init(
        queue: DispatchQueue? = nil, backend: CBBackendSelection? = nil, restoreIdentifier: String? = nil,
        taskExecutor: (any TaskExecutor)? = nil, onRestore: (@Sendable (RestoredState) -> Void)? = nil
    ) {
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth"))
        let core = CentralCore(executor: taskExecutor ?? executor, onRestore: onRestore)
        let options = Self.options(restoreIdentifier)
        let manager =
            if let backend {
                CBCentralManager(backend: backend, delegate: core, queue: executor.queue, options: options)
            } else {
                CBCentralManager(delegate: core, queue: executor.queue, options: options)
            }
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
            let (feed, number) = core.addStateFeed()
            return FeedReader(
                feed,
                lifetime: Lifetime {
                    core.removeStateFeed(number)
                    withExtendedLifetime(manager) {}
                })
        }
    }

    /// Waits until the adapter can be used.
    ///
    /// - Throws: ``BluetoothError/Reason/unavailable(_:)`` in a state that does not pass by itself.
    public func waitUntilPoweredOn() async throws {
        try await BluetoothError.run(BluetoothError.Context(.connect)) { try await radio.core.ready() }
    }

    // MARK: Devices

    /// A device that the system knows, found earlier by its identifier.
    ///
    /// - Throws: ``BluetoothError/Reason/unknownPeripheral``, or why the adapter cannot be used.
    public func peripheral(_ identifier: UUID) async throws -> Peripheral {
        try await BluetoothError.run(BluetoothError.Context(.retrieve, peer: identifier)) {
            try await radio.core.ready()
            let known = radio.manager.value.retrievePeripherals(withIdentifiers: [identifier])
            guard let first = known.first else { throw Failure(.unknownPeripheral) }
            return radio.peripheral(for: first)
        }
    }

    /// The devices that any program of the system is connected to and that offer one of these services.
    ///
    /// - Throws: Why the adapter cannot be used.
    public func connectedPeripherals(offering services: [CBUUID]) async throws -> [Peripheral] {
        try await BluetoothError.run(BluetoothError.Context(.retrieve)) {
            try await radio.core.ready()
            let known = radio.manager.value.retrieveConnectedPeripherals(withServices: services)
            return known.map { radio.peripheral(for: $0) }
        }
    }

    // MARK: Scanning

    /// Looks for devices.
    ///
    /// The scan begins with the loop and ends with it. Several at once share the radio, and each gets its own.
    ///
    /// - Parameters:
    ///   - services: Only devices that advertise one of these; all if empty.
    ///   - soliciting: Also devices that look for one of these.
    ///   - allowDuplicates: Whether each sighting counts, and not only those that tell something new.
    /// - Returns: A sequence that throws ``BluetoothError`` when the adapter cannot be used any more.
    public func scan(
        for services: [CBUUID] = [], soliciting: [CBUUID] = [], allowDuplicates: Bool = false
    ) -> ValueSequence<DiscoveredPeripheral> {
        let radio = radio
        let filter = ScanFilter(
            services: Set(services), solicited: Set(soliciting), allowsDuplicates: allowDuplicates)
        return ValueSequence {
            let feed = Feed<DiscoveredPeripheral>()
            let number = radio.addScan(filter, feed)
            return FeedReader(feed, filter.context, lifetime: Lifetime { radio.removeScan(number) })
        }
    }
}
