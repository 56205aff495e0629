// A test with `import CoreBluetoothTesting` can describe, control and capture devices, and report on them.
@_exported public import BluetoothBackend
@_exported public import BluetoothCapture
@_exported public import BluetoothEmulator
@_exported public import TraceReports
