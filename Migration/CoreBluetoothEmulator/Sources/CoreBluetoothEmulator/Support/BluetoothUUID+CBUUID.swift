import BluetoothBackend
import CoreBluetooth
import Foundation

extension CBUUID {
    /// The UUID in the type of backends.
    var backendUUID: BluetoothUUID {
        guard let uuid = BluetoothUUID(bigEndian: data) else {
            preconditionFailure("a CBUUID has 2, 4 or 16 bytes, not \(data.count)")
        }
        return uuid
    }
}
