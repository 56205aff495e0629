// What describing a device needs: UUIDs, properties and ATT error codes.
@_exported public import BluetoothBackend
@_exported public import BluetoothValues
