import BluetoothBackend
import BluetoothSupport
import Logging

#if Emulator
import BluetoothEmulator
#endif
#if BlueZ && os(Linux)
import BlueZ
#endif

/// Finds the backend that the app and the environment select.
///
/// Order: the initializer's argument, the task-local, the environment, the default.
enum BackendResolver {
    /// The automatic selection of the task; a backend that the task names is ``SelectedBackend/current``.
    @TaskLocal static var taskSelection: CBBackendSelection?

    static let defaultSelection = Lock(CBBackendSelection?.none)
    /// Whether the log says that the environment overrides ``CBManager/defaultBackend``, since that was last set.
    static let isOverrideLogged = Lock(false)

    private static let sharedAutomatic = Lock<[Bool: AutomaticBackend]>([:])

    /// The backend of a manager that names none.
    static func backend(
        environment: @autoclosure () -> SelectionEnvironment = .process,
        default selection: CBBackendSelection? = defaultSelection.withLock { $0 }
    ) -> any BluetoothBackend {
        if let selected = SelectedBackend.current { return selected }
        let environment = environment()
        if let taskSelection { return backend(for: taskSelection, environment: environment) }
        if let unknown = environment.unknownBackend {
            let known = SelectionEnvironment.Backend.allCases.map(\.rawValue).joined(separator: ", ")
            Logger(label: "CoreBluetooth").line(
                .warning, "COREBLUETOOTH_BACKEND is \"\(unknown)\", which is none of \(known), and is ignored")
        }
        if let name = environment.backend, selection != nil { logOverride(by: name) }
        switch environment.backend {
        case .bluez: return bluez()
        case .emulator: return emulator()
        case .auto: return automatic(fallback: nil, allowedBy: "COREBLUETOOTH_BACKEND=auto is set", environment)
        case nil: break
        }
        return backend(for: selection ?? .automatic(), environment: environment)
    }

    private static func logOverride(by backend: SelectionEnvironment.Backend) {
        let isLogged = isOverrideLogged.withLock { exchange(&$0, with: true) }
        guard !isLogged else { return }
        Logger(label: "CoreBluetooth").line(
            .notice,
            """
            COREBLUETOOTH_BACKEND=\(backend.rawValue) overrides CBManager.defaultBackend; unset it, or name the backend \
            in the manager's initializer or with CBManager.withBackend
            """)
    }

    static func backend(
        for selection: CBBackendSelection, environment: SelectionEnvironment = .process
    ) -> any BluetoothBackend {
        switch selection.kind {
        case .custom(let backend): backend
        case .automatic(let fallback):
            automatic(fallback: fallback, allowedBy: environment.continuousIntegration.evidence, environment)
        }
    }

    /// Creates an automatic backend for a given fallback; without one, the shared emulator is created when it is
    /// needed.
    ///
    /// - Parameter reason: The reason that allows the shared emulator, for the log; nil if nothing does.
    private static func automatic(
        fallback: (any BluetoothBackend)?, allowedBy reason: String?, _ environment: SelectionEnvironment
    ) -> any BluetoothBackend {
        if let fallback {
            let given = AutomaticBackend.Fallback(reason: "the program names it") { fallback }
            return AutomaticBackend(primary: bluez(), fallback: given)
        }
        let isFallbackAllowed = reason != nil
        if let shared = sharedAutomatic.withLock({ $0[isFallbackAllowed] }) { return shared }
        let emulated = reason.map { AutomaticBackend.Fallback(reason: $0) { emulator() } }
        let new = AutomaticBackend(
            primary: bluez(), fallback: emulated, isDoubtfulCI: environment.continuousIntegration.isDoubtful)
        return sharedAutomatic.withLock { shared -> AutomaticBackend in
            let kept = shared[isFallbackAllowed] ?? new
            shared[isFallbackAllowed] = kept
            return kept
        }
    }

    private static func bluez() -> any BluetoothBackend {
        #if BlueZ && os(Linux)
        BlueZBackend.shared(BlueZConfiguration())
        #else
        UnavailableBackend(name: "bluez", reason: "this build has no BlueZ (trait \"BlueZ\" is off)")
        #endif
    }

    /// The shared emulator, for a program that does not name one.
    static func emulator() -> any BluetoothBackend {
        #if Emulator
        Emulator.shared.inPlaceOfAdapter
        #else
        UnavailableBackend(name: "emulator", reason: "this build has no emulator (trait \"Emulator\" is off)")
        #endif
    }
}
