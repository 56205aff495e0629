import ArgumentParser

/// The values of `--backend` and of `COREBLUETOOTH_BACKEND`.
enum BackendChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Real adapters.
    case bluez
    /// Emulated devices.
    case emulator
    /// Real adapters where there are any, else emulated devices.
    case auto
}
