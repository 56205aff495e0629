import CoreBluetooth

/// A delegate of a central manager that calls closures.
///
/// Thread rule: set the closures before the manager calls them, or on its queue.
open class CBMCentralManagerDelegateProxy: NSObject, CBMCentralManagerDelegate {
    /// Called by `centralManagerDidUpdateState(_:)`.
    public var didUpdateState: ((CBMCentralManager) -> Void)?
    /// Called by `centralManager(_:willRestoreState:)`.
    public var willRestoreState: ((CBMCentralManager, [String: Any]) -> Void)?
    /// Called by `centralManager(_:didDiscover:advertisementData:rssi:)`.
    public var didDiscoverPeripheral: ((CBMCentralManager, any CBMPeripheral, [String: Any], NSNumber) -> Void)?
    /// Called by `centralManager(_:didConnect:)`.
    public var didConnect: ((CBMCentralManager, any CBMPeripheral) -> Void)?
    /// Called by `centralManager(_:didFailToConnect:error:)`.
    public var didFailToConnect: ((CBMCentralManager, any CBMPeripheral, (any Error)?) -> Void)?
    /// Called by `centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)`.
    public var didDisconnect: ((CBMCentralManager, any CBMPeripheral, CFAbsoluteTime, Bool, (any Error)?) -> Void)?
    /// Called by `centralManager(_:connectionEventDidOccur:for:)`.
    public var connectionEventDidOccur: ((CBMCentralManager, CBMConnectionEvent, any CBMPeripheral) -> Void)?
    /// Called by `centralManager(_:didUpdateANCSAuthorizationFor:)`.
    public var didUpdateANCSAuthorization: ((CBMCentralManager, any CBMPeripheral) -> Void)?

    /// Creates a delegate that does nothing.
    public override init() { super.init() }

    /// Calls ``didUpdateState``.
    open func centralManagerDidUpdateState(_ central: CBMCentralManager) { didUpdateState?(central) }

    /// Calls ``willRestoreState``.
    open func centralManager(_ central: CBMCentralManager, willRestoreState dict: [String: Any]) {
        willRestoreState?(central, dict)
    }

    /// Calls ``didDiscoverPeripheral``.
    open func centralManager(
        _ central: CBMCentralManager, didDiscover peripheral: any CBMPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        didDiscoverPeripheral?(central, peripheral, advertisementData, RSSI)
    }

    /// Calls ``didConnect``.
    open func centralManager(_ central: CBMCentralManager, didConnect peripheral: any CBMPeripheral) {
        didConnect?(central, peripheral)
    }

    /// Calls ``didFailToConnect``.
    open func centralManager(
        _ central: CBMCentralManager, didFailToConnect peripheral: any CBMPeripheral, error: (any Error)?
    ) {
        didFailToConnect?(central, peripheral, error)
    }

    /// Calls ``didDisconnect``.
    open func centralManager(
        _ central: CBMCentralManager, didDisconnectPeripheral peripheral: any CBMPeripheral,
        timestamp: CFAbsoluteTime, isReconnecting: Bool, error: (any Error)?
    ) {
        didDisconnect?(central, peripheral, timestamp, isReconnecting, error)
    }

    /// Calls ``connectionEventDidOccur``.
    open func centralManager(
        _ central: CBMCentralManager, connectionEventDidOccur event: CBMConnectionEvent,
        for peripheral: any CBMPeripheral
    ) {
        connectionEventDidOccur?(central, event, peripheral)
    }

    /// Calls ``didUpdateANCSAuthorization``.
    open func centralManager(
        _ central: CBMCentralManager, didUpdateANCSAuthorizationFor peripheral: any CBMPeripheral
    ) {
        didUpdateANCSAuthorization?(central, peripheral)
    }
}
