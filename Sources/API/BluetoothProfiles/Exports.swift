// The codec and the values that the emulator's devices share.
@_exported public import BluetoothValues
