import CoreBluetooth

/// A bridge that passes the callbacks of CoreBluetooth's manager to the emulated one.
final class CentralManagerBridge: NSObject, CBCentralManagerDelegate {
    weak var manager: EmulatedCBCentralManager?

    func centralManagerDidUpdateState(_ central: CBCentralManager) { manager?.didUpdateState() }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        manager?.willRestore(dict)
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        manager?.didDiscover(peripheral, advertisementData, RSSI)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        manager?.didConnect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        manager?.didFailToConnect(peripheral, error)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        manager?.didDisconnect(peripheral, error)
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        manager?.didOccur(event, peripheral)
    }

    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        manager?.didUpdateANCSAuthorization(peripheral)
    }
}
