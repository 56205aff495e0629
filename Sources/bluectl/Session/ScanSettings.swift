import BluetoothBackend

/// What to scan for.
struct ScanSettings: Equatable {
    var services: [BluetoothUUID] = []
    var allowsDuplicates = false
}
