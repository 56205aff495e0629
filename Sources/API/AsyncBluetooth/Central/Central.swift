import BluetoothSupport
public import CoreBluetooth
public import Logging

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// A central that finds devices and communicates with them, with `async` and `await`.
///
/// A thin layer over a `CBCentralManager`. Any thread and any actor may use it. Its state changes on the manager's
/// dispatch queue and under a lock; awaiting tasks resume on their own executors. Operations wait while the adapter's
/// state is `unknown` or `resetting`, and throw if it is `unsupported`, `unauthorized` or `poweredOff`.
public final class Central: Sendable {
    let handle: CentralHandle
    /// The executor of this central's own tasks and of its callbacks.
    ///
    /// A task that prefers it, by `withTaskExecutorPreference`, stays on one thread between a command and its response.
    public let executor: QueueExecutor

    /// Creates a central.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for callbacks; nil creates one.
    ///   - backend: The backend; nil for the one that is selected for the task or the process. Linux only.
    ///   - restoreIdentifier: The identifier under which the system preserves state for a later process; nil for none.
    ///   - settings: Log, timeouts and limits.
    ///   - taskExecutor: The executor of this central's own tasks; nil for its queue.
    ///   - onRestore: Receives the restored state, on the queue, before any other event. Retain its peripherals.
    public init(
        queue: DispatchQueue? = nil, backend: CBBackendSelection? = nil, restoreIdentifier: String? = nil,
        settings: Settings = Settings(), taskExecutor: (any TaskExecutor)? = nil,
        onRestore: (@Sendable (RestoredState) -> Void)? = nil
    ) {
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth"))
        let core = CentralCoordinator(executor: taskExecutor ?? executor, settings: settings, onRestore: onRestore)
        let queue = executor.queue
        let options = restoreIdentifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
        let manager =
            backend.map { CBCentralManager(backend: $0, delegate: core, queue: queue, options: options) }
            ?? CBCentralManager(delegate: core, queue: queue, options: options)
        #if !canImport(Darwin)
        executor.follow(ManagerQueue(of: manager))
        #endif
        handle = CentralHandle(core: core, manager: Unchecked(manager))
    }

    // MARK: State

    /// The adapter's state.
    public var state: CBManagerState { handle.core.managerState }

    /// The adapter's present state, then each change.
    public var states: EventSequence<CBManagerState> { handle.core.states.sequence(retaining: handle) }

    /// Waits until the adapter is powered on.
    ///
    /// It waits in the states `unknown` and `resetting`, which end without a person or a program.
    ///
    /// - Throws: ``BluetoothError/Reason/unavailable(_:)`` in a state that only a person or a program can change.
    public func waitUntilPoweredOn() async throws {
        try await run(BluetoothError.Context(.connect)) { [handle] in try await handle.core.ready() }
    }

    /// Runs an operation within the time limit of the settings, and adds the context to its errors.
    func run<Result: Sendable>(
        _ context: @autoclosure () -> BluetoothError.Context, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await BluetoothError.run(
            context(), within: handle.core.settings.operationTimeout, clock: handle.clock, body)
    }
}

extension Central {
    /// The settings of a central and its peripherals.
    public struct Settings: Sendable {
        /// The logger; nil for one of label `AsyncBluetooth`.
        public var logger: Logger?
        /// The maximum wait of an operation for the adapter and a link; nil for no limit.
        ///
        /// After it the operation throws ``BluetoothError/Reason/timedOut(_:)``. It applies to each attempt of
        /// ``Peripheral/maintainConnection(_:)``, too.
        public var connectTimeout: Duration?
        /// The maximum duration of one operation, including the adapter, the link and the discovery that it needs; nil
        /// for no limit.
        ///
        /// It applies to each call that reads, writes, discovers, connects, subscribes or retrieves, not to what a
        /// sequence waits for. After it the operation throws ``BluetoothError/Reason/timedOut(_:)``, as with
        /// ``withTimeout(_:_:)``.
        public var operationTimeout: Duration?
        /// The number of scan results, notifications, states and connection events that wait for a slow consumer.
        public var buffering: BufferingPolicy

        /// Creates settings; an omitted limit means no limit, and the buffering is ``BufferingPolicy/standard``.
        public init(
            logger: Logger? = nil, connectTimeout: Duration? = nil, operationTimeout: Duration? = nil,
            buffering: BufferingPolicy = .standard
        ) {
            self.logger = logger
            self.connectTimeout = connectTimeout
            self.operationTimeout = operationTimeout
            self.buffering = buffering
        }
    }
}

/// Known devices.
extension Central {
    /// Retrieves a device that the system knows, by its identifier.
    ///
    /// - Throws: ``BluetoothError/Reason/unknownPeripheral``, or the reason for which the adapter is unavailable.
    public func peripheral(identifier: UUID) async throws -> Peripheral {
        try await run(BluetoothError.Context(.retrieve, peer: identifier)) { [self] in
            guard let first = try await known([identifier]).first else { throw OperationFailure(.unknownPeripheral) }
            return first
        }
    }

    /// Retrieves the devices that the system knows among these identifiers; unknown ones are omitted.
    ///
    /// - Throws: ``BluetoothError/Reason/unavailable(_:)``.
    public func peripherals(identifiers: [UUID]) async throws -> [Peripheral] {
        try await run(BluetoothError.Context(.retrieve)) { [self] in try await known(identifiers) }
    }

    private func known(_ identifiers: [UUID]) async throws -> [Peripheral] {
        try await handle.core.ready()
        return handle.manager.value.retrievePeripherals(withIdentifiers: identifiers).map { handle.peripheral(for: $0) }
    }

    /// Returns the devices that any program of the system is connected to and that offer one of these services.
    ///
    /// A device that is connected may not advertise, so that a scan does not find it.
    ///
    /// - Parameter services: By default Generic Access and Generic Attribute, which each device offers.
    /// - Throws: ``BluetoothError/Reason/unavailable(_:)``.
    public func connectedPeripherals(
        offering services: [CBUUID] = [CBUUID(string: "1800"), CBUUID(string: "1801")]
    ) async throws -> [Peripheral] {
        try await run(BluetoothError.Context(.retrieve)) { [handle] in
            try await handle.core.ready()
            let known = handle.manager.value.retrieveConnectedPeripherals(withServices: services)
            return known.map { handle.peripheral(for: $0) }
        }
    }
}

#if os(Linux)
/// Device addresses, which Apple's platforms do not reveal.
extension Central {
    /// Returns the device with an address: one that is connected already, otherwise the first that advertises with it.
    ///
    /// Linux only. A device that changes its address for privacy is found under its identity address once it is bonded,
    /// otherwise under its present address.
    ///
    /// - Parameters:
    ///   - address: Six bytes in hexadecimal digits with colons, as in `C0:11:22:33:44:55`; upper or lower case.
    ///   - limit: The duration of the search.
    /// - Throws: ``BluetoothError`` with ``BluetoothError/Reason/malformedAddress(_:)``, with
    ///   ``BluetoothError/Reason/timedOut(_:)`` if it was not found in time, or the reason for which the adapter is
    ///   unavailable.
    public func peripheral(address: String, within limit: Duration = .seconds(30)) async throws -> Peripheral {
        let context = BluetoothError.Context(.retrieve, path: address)
        return try await BluetoothError.run(context, within: limit, clock: handle.clock) { [self] in
            guard Self.isAddress(address) else { throw OperationFailure(.malformedAddress(address)) }
            // This wait has the limit of the search, not that of an operation.
            try await handle.core.ready()
            do {
                let connected = try await connectedPeripherals()
                if let known = connected.first(where: { $0.hasAddress(address) }) { return known }
                for try await device in scan() where device.peripheral.hasAddress(address) { return device.peripheral }
            } catch let error as BluetoothError {
                throw OperationFailure(error.reason)
            }
            throw CancellationError()
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        let bytes = text.split(separator: ":", omittingEmptySubsequences: false)
        return bytes.count == 6
            && bytes.allSatisfy { $0.utf8.count == 2 && $0.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit) }
    }
}

extension Peripheral {
    /// The address in the device's last advertisement or connection, as in `C0:11:22:33:44:55`; nil before the first.
    ///
    /// Linux only. It is for display; the ``identifier`` is what stays the same.
    public var address: String? { core.object.address }

    fileprivate func hasAddress(_ address: String) -> Bool { self.address?.lowercased() == address.lowercased() }
}
#endif

/// The state that the system preserved for an earlier process of the app.
public struct RestoredState: Sendable {
    /// The devices that were connected or connecting.
    ///
    /// Retain the ones that you need: the others are released, and disconnected.
    public let peripherals: [Peripheral]
    /// The services of the scan; empty for a scan for all devices, nil without a scan.
    public let scannedServices: [CBUUID]?
}
