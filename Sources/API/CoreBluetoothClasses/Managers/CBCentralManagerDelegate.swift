public import Foundation

/// The callbacks of a central manager.
///
/// Every method runs on the manager's queue, one at a time. All but ``centralManagerDidUpdateState(_:)`` may be left
/// out: they have default bodies. Source: Apple, CBCentralManagerDelegate.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The manager's state changed; `central.state` is the new one.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// The system restores the state that an earlier process of this app left. Called before the first state.
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - dict: See ``CBCentralManagerRestoredStatePeripheralsKey`` and its siblings.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// A device was heard while scanning. Keep a reference to the peripheral to use it.
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The device.
    ///   - advertisementData: The content of the advertisement; see ``CBAdvertisementDataLocalNameKey`` and its
    ///     siblings.
    ///   - RSSI: The signal strength in dBm; 127 means not available.
    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber)

    /// A requested link is up.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// A requested link could not be made.
    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// A link ended; the error is nil when this app ended it.
    ///
    /// Not called when the delegate has the method with a time stamp too.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)

    /// A link ended. The default body calls the method without a time stamp.
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The device.
    ///   - timestamp: The time of the disconnection, in seconds since 2001-01-01 00:00 UTC.
    ///   - isReconnecting: Whether the system reconnects without a call of the app.
    ///   - error: The reason; nil when this app ended the link.
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?)

    /// A device that matches the registered options connected to, or disconnected from, the system.
    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

    /// `peripheral.ancsAuthorized` changed. BlueZ: never called.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

extension CBCentralManagerDelegate {
    /// Does nothing.
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}

    /// Does nothing.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {}

    /// Calls the method without a time stamp, so that exactly one of the two is the app's.
    public func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }

    /// Does nothing.
    public func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {}

    /// Does nothing.
    public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}

#if !canImport(Darwin)
/// Seconds since 2001-01-01 00:00 UTC, as in `Date.timeIntervalSinceReferenceDate`.
///
/// Foundation declares this name on Apple's platforms only. Source: Apple, CFAbsoluteTime.
public typealias CFAbsoluteTime = Double
#endif
