import BluetoothBackend
import BluetoothLocking
import CoreBluetoothPackage
import Logging
import Synchronization

#if Emulator
import BluetoothEmulator
#endif

/// From the options to a radio.
enum BackendSelector {
    /// The radio that the options name.
    ///
    /// - Throws: A usage failure for a world file with a mistake, a failure for a radio that this build lacks.
    static func selection(_ options: GlobalOptions) throws(Failure) -> CBBackendSelection {
        switch options.effectiveBackend {
        case .bluez: return try bluez()
        case .emulator: return try emulator(world: options.effectiveWorld)
        case .auto: return .automatic(fallback: try emulator(world: options.effectiveWorld))
        }
    }

    /// The radio with each command and each event in the log, values and addresses included.
    static func traced(_ radio: CBBackendSelection) -> CBBackendSelection {
        let log = BackendTrace.Destination.log(Logger(label: "trace"), level: .debug)
        return .custom(TracingBackend(around: radio.backend, to: log, showsValues: true))
    }

    private static func bluez() throws(Failure) -> CBBackendSelection {
        #if BlueZ && os(Linux)
        return .bluez()
        #else
        throw Failure(.failed, "this bluectl was built without BlueZ: use --backend emulator")
        #endif
    }

    #if Emulator
    /// The emulator that was made last: a process of the tool uses one.
    static let current = Lock<Emulator?>(nil)
    #endif

    /// The emulator with a world file's devices, or with the built-in ones.
    static func emulator(world: String? = nil) throws(Failure) -> CBBackendSelection {
        #if Emulator
        let emulator = try world.map { path throws(Failure) in try WorldFile(path: path).emulator() } ?? .shared
        current.withLock { $0 = emulator }
        return .emulator(emulator)
        #else
        throw Failure(.failed, "this bluectl was built without the emulator")
        #endif
    }
}
