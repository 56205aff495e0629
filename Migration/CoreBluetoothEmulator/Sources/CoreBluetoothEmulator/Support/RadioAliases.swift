import BluetoothEmulator

/// The radio: this module's `Emulator` hides the type of that name.
typealias Radio = BluetoothEmulator.Emulator

/// The settings of the radio: this module's `EmulatorConfiguration` hides the type of that name.
typealias RadioConfiguration = BluetoothEmulator.EmulatorConfiguration
