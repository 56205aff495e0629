import CoreBluetoothPackage

#if Emulator
import BluetoothEmulator
#endif

/// From the options to a radio.
enum RadioSelection {
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

    private static func bluez() throws(Failure) -> CBBackendSelection {
        #if BlueZ && os(Linux)
        return .bluez()
        #else
        throw Failure(.failed, "this bluectl was built without BlueZ: use --backend emulator")
        #endif
    }

    /// The emulator with a world file's devices, or with the built-in ones.
    static func emulator(world: String? = nil) throws(Failure) -> CBBackendSelection {
        #if Emulator
        guard let world else { return .emulator(Emulator.shared) }
        return .emulator(try WorldFile(path: world).emulator())
        #else
        throw Failure(.failed, "this bluectl was built without the emulator")
        #endif
    }
}
