// The tracing wrapper.
@_exported public import BluetoothTracing
