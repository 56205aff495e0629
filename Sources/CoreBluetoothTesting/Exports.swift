// A test that says `import CoreBluetoothTesting` can describe devices and steer them.
@_exported public import BluetoothBackend
@_exported public import BluetoothEmulator
