import BluetoothEmulator

/// The emulator: this module's `Emulator` hides the type of that name.
typealias EmulatorBackend = BluetoothEmulator.Emulator

/// The settings of the emulator: this module's `EmulatorConfiguration` hides the type of that name.
typealias BackendConfiguration = BluetoothEmulator.EmulatorConfiguration
