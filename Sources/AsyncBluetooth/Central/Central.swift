import BluetoothLocking
public import CoreBluetooth
public import Logging

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
    let radio: CentralHandle
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
        let core = CentralCoordinator(executor: taskExecutor ?? executor, settings: settings, onRestore: onRestore)
        let manager = CBCentralManager(
            delegate: core, queue: executor.queue, options: Self.options(restoreIdentifier))
        radio = CentralHandle(core: core, manager: Unchecked(manager))
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
        let core = CentralCoordinator(executor: taskExecutor ?? executor, settings: settings, onRestore: onRestore)
        let options = Self.options(restoreIdentifier)
        let manager =
            if let backend {
                CBCentralManager(backend: backend, delegate: core, queue: executor.queue, options: options)
            } else {
                CBCentralManager(delegate: core, queue: executor.queue, options: options)
            }
        executor.follow(ManagerClock(of: manager))
        radio = CentralHandle(core: core, manager: Unchecked(manager))
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

extension Central {
    /// What can be set for a central and its peripherals.
    public struct Settings: Sendable {
        /// Where log lines go; nil for a logger of label `AsyncBluetooth`.
        public var logger: Logger?
        /// The most time that an operation may wait for the adapter and a link; nil for no limit.
        ///
        /// Beyond it the operation throws ``BluetoothError/Reason/timedOut(_:)``. It holds for each attempt of
        /// ``Peripheral/maintainConnection(_:)``, too.
        public var connectTimeout: Duration?
        /// The most time that one operation may take in all, with what it needs: the adapter, a link, discovery; nil for
        /// no limit.
        ///
        /// It holds for each call that reads, writes, discovers, connects, subscribes or retrieves, not for what a sequence
        /// waits for. Beyond it the operation throws ``BluetoothError/Reason/timedOut(_:)``, as with
        /// ``withTimeout(_:_:)``.
        public var operationTimeout: Duration?
        /// What scans, notifications, states and events of connections keep for a consumer that is late.
        public var buffering: BufferingPolicy

        /// Makes settings; what is left out has no limit, but that of ``BufferingPolicy/standard``.
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

/// Devices that are known.
extension Central {
    /// A device that the system knows, found earlier by its identifier.
    ///
    /// - Throws: ``BluetoothError/Reason/unknownPeripheral``, or why the adapter cannot be used.
    public func peripheral(identifier: UUID) async throws -> Peripheral {
        try await run(BluetoothError.Context(.retrieve, peer: identifier)) { [self] in
            guard let first = try await known([identifier]).first else { throw OperationFailure(.unknownPeripheral) }
            return first
        }
    }

    /// The devices of these identifiers that the system knows; those that it does not know are left out.
    ///
    /// - Throws: Why the adapter cannot be used.
    public func peripherals(identifiers: [UUID]) async throws -> [Peripheral] {
        try await run(BluetoothError.Context(.retrieve)) { [self] in try await known(identifiers) }
    }

    private func known(_ identifiers: [UUID]) async throws -> [Peripheral] {
        try await radio.core.ready()
        return radio.manager.value.retrievePeripherals(withIdentifiers: identifiers).map { radio.peripheral(for: $0) }
    }

    /// The devices that any program of the system is connected to and that offer one of these services.
    ///
    /// - Throws: Why the adapter cannot be used.
    public func connectedPeripherals(offering services: [CBUUID]) async throws -> [Peripheral] {
        try await run(BluetoothError.Context(.retrieve)) { [radio] in
            try await radio.core.ready()
            let known = radio.manager.value.retrieveConnectedPeripherals(withServices: services)
            return known.map { radio.peripheral(for: $0) }
        }
    }
}

#if os(Linux)
/// Device addresses, which Apple's platforms keep to themselves.
extension Central {
    /// The device of an address: one that is connected already, or else the first that advertises with it.
    ///
    /// Linux only. A device that changes its address for privacy is found under its identity address once it is bonded,
    /// and else under the address that it has at the time.
    ///
    /// - Parameters:
    ///   - address: Six bytes in hexadecimal digits with colons, as in `C0:11:22:33:44:55`; upper or lower case.
    ///   - limit: How long to look for it.
    /// - Throws: ``BluetoothError`` with ``BluetoothError/Reason/malformedAddress(_:)``, with
    ///   ``BluetoothError/Reason/timedOut(_:)`` where it was not heard in time, or why the adapter cannot be used.
    public func peripheral(address: String, within limit: Duration = .seconds(30)) async throws -> Peripheral {
        let context = BluetoothError.Context(.retrieve, path: address)
        return try await BluetoothError.run(context, within: limit, clock: radio.clock) { [self] in
            guard Self.isAddress(address) else { throw OperationFailure(.malformedAddress(address)) }
            try await radio.core.ready()
            if let connected = radio.connectedPeripheral(address: address) { return connected }
            do {
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
    /// Linux only. It is for people and for listings: the ``identifier`` is what stays the same.
    public var address: String? { core.object.address }

    fileprivate func hasAddress(_ address: String) -> Bool { self.address?.lowercased() == address.lowercased() }
}

extension CentralHandle {
    /// A device that some program of the system is connected to; such a device may not advertise.
    fileprivate func connectedPeripheral(address: String) -> Peripheral? {
        // Generic Access and Generic Attribute, which each device offers.
        let services = [CBUUID(string: "1800"), CBUUID(string: "1801")]
        return manager.value.retrieveConnectedPeripherals(withServices: services)
            .first { $0.address?.lowercased() == address.lowercased() }
            .map { peripheral(for: $0) }
    }
}
#endif

/// The state that the system preserved for an earlier process of the app.
public struct RestoredState: Sendable {
    /// The devices that were connected or connecting.
    ///
    /// Keep those that matter: the others are released, and disconnected.
    public let peripherals: [Peripheral]
    /// The services that were scanned for; empty if any, nil if there was no scan.
    public let scannedServices: [CBUUID]?
}
