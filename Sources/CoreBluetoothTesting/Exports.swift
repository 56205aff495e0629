// A test with `import CoreBluetoothTesting` can describe and control devices.
@_exported public import BluetoothBackend
@_exported public import BluetoothEmulator
