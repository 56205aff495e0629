import CoreBluetooth

/// The delegate of a wrapped manager, which passes each callback to the wrapper.
final class CentralManagerBridge: NSObject, CBCentralManagerDelegate {
    let gate = Gate<CBMWrappedCentralManager>()

    private func receive(_ callback: @escaping (CBMWrappedCentralManager) -> ManagerCallback) {
        gate.pass { $0.receive(callback($0)) }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { receive { _ in .stateUpdated } }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        receive { owner in
            var state = dict
            if let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] {
                state[CBMCentralManagerRestoredStatePeripheralsKey] =
                    peripherals.map { owner.wrap($0) } as [any CBMPeripheral]
            }
            return .willRestore(state)
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        receive { .discovered($0.wrap(peripheral), advertisementData, RSSI) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        receive { .connected($0.wrap(peripheral)) }
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        receive { .failedToConnect($0.wrap(peripheral), error) }
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        receive { .disconnected($0.wrap(peripheral), timestamp, isReconnecting: isReconnecting, error) }
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        receive { .connectionEvent(event, $0.wrap(peripheral)) }
    }

    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        receive { .ancsAuthorizationUpdated($0.wrap(peripheral)) }
    }
}
