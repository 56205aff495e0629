public import BluetoothBackend

#if Emulator
public import BluetoothEmulator
#endif
#if BlueZ && os(Linux)
public import BlueZ
#endif

/// Which radio a manager uses.
///
/// An extension of this package.
public struct CBBackendSelection: Sendable {
    enum Kind: Sendable {
        case automatic(fallback: (any BluetoothBackend)?)
        case custom(any BluetoothBackend)
    }

    let kind: Kind

    /// The radio, for tools that wrap it.
    package var backend: any BluetoothBackend { BackendResolver.backend(for: self) }

    /// The backend itself, unless it is still to be chosen.
    var namedBackend: (any BluetoothBackend)? {
        if case .custom(let backend) = kind { backend } else { nil }
    }

    /// BlueZ; where it has no adapter, another radio, but only where that is allowed.
    ///
    /// It is allowed by giving `fallback` here, by `COREBLUETOOTH_BACKEND=auto`, or in a job of continuous integration:
    /// where `CI` is `true` or `1`, and a known system's variable such as `GITHUB_ACTIONS` is set, or the process runs
    /// tests. The latter two take the shared emulator. Where it is not allowed, BlueZ stays chosen, the state is
    /// `.unsupported`, and an adapter that comes later is used. The decision is made once per process, within 3 seconds.
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
    /// An emulated radio: an isolated world of its own.
    public static func emulator(_ emulator: Emulator) -> CBBackendSelection {
        CBBackendSelection(kind: .custom(emulator))
    }
    #endif

    /// Any other radio, or a wrapper around one.
    public static func custom(_ backend: any BluetoothBackend) -> CBBackendSelection {
        CBBackendSelection(kind: .custom(backend))
    }
}
