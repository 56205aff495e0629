public import BluetoothBackend
import BluetoothSupport
public import Dispatch

#if Emulator
public import BluetoothEmulator
#endif
#if BlueZ && os(Linux)
public import BlueZ
#endif

/// The backend that a manager uses.
///
/// An extension of this package.
public struct CBBackendSelection: Sendable {
    enum Kind: Sendable {
        case automatic(fallback: (any BluetoothBackend)?)
        case custom(any BluetoothBackend)
    }

    let kind: Kind

    /// The backend, for tools that wrap it.
    package var backend: any BluetoothBackend { BackendResolver.backend(for: self) }

    /// The backend itself, unless it is still to be chosen.
    var namedBackend: (any BluetoothBackend)? {
        if case .custom(let backend) = kind { backend } else { nil }
    }

    /// Selects BlueZ; without an adapter another backend, if that is allowed.
    ///
    /// It is allowed by giving `fallback` here, by `COREBLUETOOTH_BACKEND=auto`, or in a job of continuous integration:
    /// if `CI` is `true` or `1`, and a known system's variable such as `GITHUB_ACTIONS` is set, or the process runs
    /// tests. The latter two take the shared emulator. If it is not allowed, BlueZ stays chosen, the state is
    /// `.unsupported`, and an adapter that comes later is used. The decision is made once per process, within 3
    /// seconds.
    public static func automatic(fallback: CBBackendSelection? = nil) -> CBBackendSelection {
        CBBackendSelection(kind: .automatic(fallback: fallback.map { BackendResolver.backend(for: $0) }))
    }

    #if BlueZ && os(Linux)
    /// Real adapters, through BlueZ.
    ///
    /// One connection per configuration and process.
    public static func bluez(_ configuration: BlueZConfiguration = BlueZConfiguration()) -> CBBackendSelection {
        CBBackendSelection(kind: .custom(BlueZBackend.shared(configuration)))
    }
    #endif

    #if Emulator
    /// An emulator: one isolated world.
    ///
    /// Managers that name no host use the host "default"; each peripheral manager among them gets its own host, which
    /// the central managers can find. One line of the log says so.
    public static func emulator(_ emulator: Emulator) -> CBBackendSelection {
        CBBackendSelection(kind: .custom(emulator))
    }

    /// One host of an emulator, for all managers.
    ///
    /// Managers of one host share its adapter, its links and its bonds; its peripheral managers are one device on the
    /// air. `COREBLUETOOTH_ADAPTER` does not count.
    public static func emulator(host: EmulatedHost) -> CBBackendSelection {
        CBBackendSelection(kind: .custom(host.backend))
    }
    #endif

    /// Any other backend, or a wrapper around one.
    public static func custom(_ backend: any BluetoothBackend) -> CBBackendSelection {
        CBBackendSelection(kind: .custom(backend))
    }
}

extension CBManager {
    /// The backend of managers for which none of the initializer, the task and the environment names one.
    ///
    /// `.automatic()` at first. Settable from any thread; managers that exist keep theirs. If `COREBLUETOOTH_BACKEND`
    /// overrides what was set, one log line says so. An extension of this package.
    public static var defaultBackend: CBBackendSelection {
        get { BackendResolver.defaultSelection.withLock { $0 } ?? .automatic() }
        set {
            BackendResolver.defaultSelection.withLock { $0 = newValue }
            BackendResolver.isOverrideLogged.withLock { $0 = false }
        }
    }

    /// Runs `body` with a backend for all managers that it creates, in this task and its child tasks.
    ///
    /// Detached tasks and work on dispatch queues do not see it. An extension of this package.
    public static func withBackend<Result>(
        _ selection: CBBackendSelection, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        if let backend = selection.namedBackend {
            return try await SelectedBackend.$current.withValue(backend, operation: body)
        }
        return try await BackendResolver.$taskSelection.withValue(selection) {
            try await SelectedBackend.$current.withValue(nil, operation: body)
        }
    }

    /// Runs `body` with a backend for all managers that it creates.
    ///
    /// An extension of this package.
    public static func withBackend<Result>(
        _ selection: CBBackendSelection, _ body: () throws -> Result
    ) rethrows -> Result {
        if let backend = selection.namedBackend {
            return try SelectedBackend.$current.withValue(backend, operation: body)
        }
        return try BackendResolver.$taskSelection.withValue(selection) {
            try SelectedBackend.$current.withValue(nil, operation: body)
        }
    }
}

/// Creates central managers, for code written for Nordic's CoreBluetoothMock.
///
/// An extension of this package.
public enum CBCentralManagerFactory {
    /// Creates a central manager over the selected backend.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: As of the manager's initializer.
    ///   - forceMock: Whether to use the shared emulator regardless of other settings.
    public static func instance(
        delegate: (any CBCentralManagerDelegate)? = nil, queue: DispatchQueue? = nil, options: [String: Any]? = nil,
        forceMock: Bool = false
    ) -> CBCentralManager {
        guard forceMock else { return CBCentralManager(delegate: delegate, queue: queue, options: options) }
        return CBCentralManager(
            backend: .custom(BackendResolver.emulator()), delegate: delegate, queue: queue, options: options)
    }
}

/// Creates peripheral managers, for code written for Nordic's CoreBluetoothMock.
///
/// An extension of this package.
public enum CBPeripheralManagerFactory {
    /// Creates a peripheral manager over the selected backend.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: As of the manager's initializer.
    ///   - forceMock: Whether to use the shared emulator regardless of other settings.
    public static func instance(
        delegate: (any CBPeripheralManagerDelegate)? = nil, queue: DispatchQueue? = nil,
        options: [String: Any]? = nil, forceMock: Bool = false
    ) -> CBPeripheralManager {
        guard forceMock else { return CBPeripheralManager(delegate: delegate, queue: queue, options: options) }
        return CBPeripheralManager(
            backend: .custom(BackendResolver.emulator()), delegate: delegate, queue: queue, options: options)
    }
}
