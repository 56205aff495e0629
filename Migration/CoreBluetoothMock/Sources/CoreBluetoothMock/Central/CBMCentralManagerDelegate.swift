import CoreBluetooth

/// Seconds since 2001-01-01 00:00 UTC.
///
/// Foundation declares this name on Apple's platforms only.
public typealias CFAbsoluteTime = Double

/// The callbacks of a central manager.
///
/// Every method runs on the manager's queue, one at a time. All but ``centralManagerDidUpdateState(_:)`` have default
/// bodies that do nothing, unless stated otherwise.
public protocol CBMCentralManagerDelegate: AnyObject {
    /// The manager's state changed; `central.state` is the new one.
    func centralManagerDidUpdateState(_ central: CBMCentralManager)

    /// The system restores the state that an earlier process of this app left; called before the first state.
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - dict: See `CBMCentralManagerRestoredStatePeripheralsKey` and its siblings.
    func centralManager(_ central: CBMCentralManager, willRestoreState dict: [String: Any])

    /// A device was heard while scanning.
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The device.
    ///   - advertisementData: The content of the advertisement; see `CBMAdvertisementDataLocalNameKey` and its siblings.
    ///   - RSSI: The signal strength in dBm.
    func centralManager(
        _ central: CBMCentralManager, didDiscover peripheral: any CBMPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber)

    /// A requested link is up.
    func centralManager(_ central: CBMCentralManager, didConnect peripheral: any CBMPeripheral)

    /// A requested link could not be made.
    func centralManager(
        _ central: CBMCentralManager, didFailToConnect peripheral: any CBMPeripheral, error: (any Error)?)

    /// A link ended; the error is nil when this app ended it.
    ///
    /// Called by the default body of the method with a time stamp.
    func centralManager(
        _ central: CBMCentralManager, didDisconnectPeripheral peripheral: any CBMPeripheral, error: (any Error)?)

    /// A link ended.
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The device.
    ///   - timestamp: The time of the disconnection, in seconds since 2001-01-01 00:00 UTC.
    ///   - isReconnecting: Whether the system reconnects without a call of the app.
    ///   - error: The reason; nil when this app ended the link.
    func centralManager(
        _ central: CBMCentralManager, didDisconnectPeripheral peripheral: any CBMPeripheral,
        timestamp: CFAbsoluteTime, isReconnecting: Bool, error: (any Error)?)

    /// A device that matches the registered options connected to, or disconnected from, the system.
    func centralManager(
        _ central: CBMCentralManager, connectionEventDidOccur event: CBMConnectionEvent,
        for peripheral: any CBMPeripheral)

    /// `peripheral.ancsAuthorized` changed.
    func centralManager(
        _ central: CBMCentralManager, didUpdateANCSAuthorizationFor peripheral: any CBMPeripheral)
}

extension CBMCentralManagerDelegate {
    /// Does nothing.
    public func centralManager(_ central: CBMCentralManager, willRestoreState dict: [String: Any]) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBMCentralManager, didDiscover peripheral: any CBMPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}

    /// Does nothing.
    public func centralManager(_ central: CBMCentralManager, didConnect peripheral: any CBMPeripheral) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBMCentralManager, didFailToConnect peripheral: any CBMPeripheral, error: (any Error)?
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBMCentralManager, didDisconnectPeripheral peripheral: any CBMPeripheral, error: (any Error)?
    ) {}

    /// Calls the method without a time stamp, so that exactly one of the two is the app's.
    public func centralManager(
        _ central: CBMCentralManager, didDisconnectPeripheral peripheral: any CBMPeripheral,
        timestamp: CFAbsoluteTime, isReconnecting: Bool, error: (any Error)?
    ) {
        centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }

    /// Does nothing.
    public func centralManager(
        _ central: CBMCentralManager, connectionEventDidOccur event: CBMConnectionEvent,
        for peripheral: any CBMPeripheral
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBMCentralManager, didUpdateANCSAuthorizationFor peripheral: any CBMPeripheral
    ) {}
}
