// A test with `import CoreBluetoothTesting` can describe and control devices, and report on their traces.
@_exported public import BluetoothBackend
@_exported public import BluetoothEmulator
@_exported public import TraceReports
