// A trace of the emulator consists of its entries.
@_exported public import BluetoothTracing
