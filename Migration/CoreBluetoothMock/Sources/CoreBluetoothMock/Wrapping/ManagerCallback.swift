import CoreBluetooth

/// A callback of a wrapped central manager, as a value.
enum ManagerCallback {
    case stateUpdated
    case willRestore([String: Any])
    case discovered(CBMWrappedPeripheral, [String: Any], NSNumber)
    case connected(CBMWrappedPeripheral)
    case failedToConnect(CBMWrappedPeripheral, (any Error)?)
    case disconnected(CBMWrappedPeripheral, CFAbsoluteTime, isReconnecting: Bool, (any Error)?)
    case connectionEvent(CBMConnectionEvent, CBMWrappedPeripheral)
    case ancsAuthorizationUpdated(CBMWrappedPeripheral)

    /// Calls the delegate method of the event.
    func call(_ delegate: any CBMCentralManagerDelegate, of manager: CBMCentralManager) {
        switch self {
        case .stateUpdated:
            delegate.centralManagerDidUpdateState(manager)
        case .willRestore(let state):
            delegate.centralManager(manager, willRestoreState: state)
        case .discovered(let peripheral, let data, let rssi):
            delegate.centralManager(manager, didDiscover: peripheral, advertisementData: data, rssi: rssi)
        case .connected(let peripheral):
            delegate.centralManager(manager, didConnect: peripheral)
        case .failedToConnect(let peripheral, let error):
            delegate.centralManager(manager, didFailToConnect: peripheral, error: error)
        case .disconnected(let peripheral, let timestamp, let isReconnecting, let error):
            delegate.centralManager(
                manager, didDisconnectPeripheral: peripheral, timestamp: timestamp, isReconnecting: isReconnecting,
                error: error)
        case .connectionEvent(let event, let peripheral):
            delegate.centralManager(manager, connectionEventDidOccur: event, for: peripheral)
        case .ancsAuthorizationUpdated(let peripheral):
            delegate.centralManager(manager, didUpdateANCSAuthorizationFor: peripheral)
        }
    }
}
