import BluetoothBackend
import BluetoothSupport
import Synchronization

extension CBManager {
    /// The radio of managers for which neither the initializer, nor the task, nor the environment names one.
    ///
    /// `.automatic()` at first. Settable from any thread; managers that exist keep theirs. Where
    /// `COREBLUETOOTH_BACKEND` overrides what was set, one log line says so. An extension of this package.
    public static var defaultBackend: CBBackendSelection {
        get { BackendResolver.defaultSelection.withLock { $0 } ?? .automatic() }
        set {
            BackendResolver.defaultSelection.withLock { $0 = newValue }
            BackendResolver.isOverrideLogged.withLock { $0 = false }
        }
    }

    /// Runs `body` with a radio for all managers that it makes, in this task and its child tasks.
    ///
    /// Detached tasks and work on dispatch queues do not see it. An extension of this package.
    public static func withBackend<Result>(
        _ selection: CBBackendSelection, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await BackendResolver.$taskSelection.withValue(selection) {
            try await SelectedBackend.$current.withValue(selection.namedBackend, operation: body)
        }
    }

    /// Runs `body` with a radio for all managers that it makes.
    ///
    /// An extension of this package.
    public static func withBackend<Result>(
        _ selection: CBBackendSelection, _ body: () throws -> Result
    ) rethrows -> Result {
        try BackendResolver.$taskSelection.withValue(selection) {
            try SelectedBackend.$current.withValue(selection.namedBackend, operation: body)
        }
    }
}
