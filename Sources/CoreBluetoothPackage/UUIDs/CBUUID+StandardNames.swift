import BluetoothBackend

extension CBUUID {
    /// The name that Apple's CoreBluetooth prints for this UUID; nil where it prints the digits.
    ///
    /// Apple names few: 1802, 1803 and 1811 stay digits, for instance. This is the list that was seen.
    var standardDescription: String? { Self.described[bluetoothUUID] }

    private static let described: [BluetoothUUID: String] = [
        "1805": "Current Time",
        "180A": "Device Information",
        "180D": "Heart Rate",
        "180F": "Battery",
        "2A23": "System ID",
        "2A24": "Model Number String",
        "D0611E78-BBB4-4591-A5F8-487910AE4366": "Continuity",
    ]
}
