public import CoreBluetooth

/// The callbacks of a central manager, on its queue.
///
/// Only `centralManagerDidUpdateState(_:)` is required; the others do nothing by default.
public protocol EmulatedCBCentralManagerDelegate: AnyObject {
    /// `state` changed.
    func centralManagerDidUpdateState(_ central: EmulatedCBCentralManager)

    /// The manager receives the state that was preserved under its restore identifier; before the first state.
    func centralManager(_ central: EmulatedCBCentralManager, willRestoreState dict: [String: Any])

    /// A peripheral was heard.
    func centralManager(
        _ central: EmulatedCBCentralManager, didDiscover peripheral: EmulatedCBPeripheral,
        advertisementData: [String: Any], rssi RSSI: NSNumber)

    /// The link is up.
    func centralManager(_ central: EmulatedCBCentralManager, didConnect peripheral: EmulatedCBPeripheral)

    /// A connect failed.
    func centralManager(
        _ central: EmulatedCBCentralManager, didFailToConnect peripheral: EmulatedCBPeripheral, error: (any Error)?)

    /// The link ended; without an error if this manager ended it.
    func centralManager(
        _ central: EmulatedCBCentralManager, didDisconnectPeripheral peripheral: EmulatedCBPeripheral,
        error: (any Error)?)

    /// A peripheral that the manager registered for connected or disconnected.
    func centralManager(
        _ central: EmulatedCBCentralManager, connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: EmulatedCBPeripheral)

    /// The permission of a connected peripheral to use the notifications of this side changed.
    func centralManager(
        _ central: EmulatedCBCentralManager, didUpdateANCSAuthorizationFor peripheral: EmulatedCBPeripheral)

    /// Writes without response are accepted again.
    ///
    /// Called in addition to the peripheral's delegate method of the same name, unless one object is both delegates or
    /// ``EmulatorConfiguration/followsApple`` is true.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: EmulatedCBPeripheral)
}

extension EmulatedCBCentralManagerDelegate {
    /// Does nothing.
    public func centralManager(_ central: EmulatedCBCentralManager, willRestoreState dict: [String: Any]) {}

    /// Does nothing.
    public func centralManager(
        _ central: EmulatedCBCentralManager, didDiscover peripheral: EmulatedCBPeripheral,
        advertisementData: [String: Any], rssi RSSI: NSNumber
    ) {}

    /// Does nothing.
    public func centralManager(_ central: EmulatedCBCentralManager, didConnect peripheral: EmulatedCBPeripheral) {}

    /// Does nothing.
    public func centralManager(
        _ central: EmulatedCBCentralManager, didFailToConnect peripheral: EmulatedCBPeripheral, error: (any Error)?
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: EmulatedCBCentralManager, didDisconnectPeripheral peripheral: EmulatedCBPeripheral,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: EmulatedCBCentralManager, connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: EmulatedCBPeripheral
    ) {}

    /// Does nothing.
    public func centralManager(
        _ central: EmulatedCBCentralManager, didUpdateANCSAuthorizationFor peripheral: EmulatedCBPeripheral
    ) {}

    /// Does nothing.
    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: EmulatedCBPeripheral) {}
}
