import CoreBluetooth

/// The callbacks of a peripheral manager.
///
/// Every method runs on the manager's queue, one at a time. All but ``peripheralManagerDidUpdateState(_:)`` have
/// default bodies: requests are refused with `.requestNotSupported`, the others do nothing.
public protocol CBMPeripheralManagerDelegate: AnyObject {
    /// The manager's state changed; `peripheral.state` is the new one.
    func peripheralManagerDidUpdateState(_ peripheral: CBMPeripheralManager)

    /// The system restores the state that an earlier process of this app left; called before the first state.
    func peripheralManager(_ peripheral: CBMPeripheralManager, willRestoreState dict: [String: Any])

    /// The answer to `startAdvertising(_:)`.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBMPeripheralManager, error: (any Error)?)

    /// The answer to `add(_:)`, with the same object.
    func peripheralManager(
        _ peripheral: CBMPeripheralManager, didAdd service: CBMService, error: (any Error)?)

    /// A central subscribed; `subscribedCentrals` includes it already.
    func peripheralManager(
        _ peripheral: CBMPeripheralManager, central: CBMCentral, didSubscribeTo characteristic: CBMCharacteristic)

    /// A central unsubscribed or disconnected.
    func peripheralManager(
        _ peripheral: CBMPeripheralManager, central: CBMCentral,
        didUnsubscribeFrom characteristic: CBMCharacteristic)

    /// A central reads: set `request.value`, and respond exactly once.
    func peripheralManager(_ peripheral: CBMPeripheralManager, didReceiveRead request: CBMATTRequest)

    /// A central writes: respond exactly once, with the first request.
    func peripheralManager(_ peripheral: CBMPeripheralManager, didReceiveWrite requests: [CBMATTRequest])

    /// There is space again after `updateValue(_:for:onSubscribedCentrals:)` returned false.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBMPeripheralManager)

    /// The answer to `publishL2CAPChannel(withEncryption:)`.
    func peripheralManager(
        _ peripheral: CBMPeripheralManager, didPublishL2CAPChannel PSM: CBML2CAPPSM, error: (any Error)?)

    /// The answer to `unpublishL2CAPChannel(_:)`.
    func peripheralManager(
        _ peripheral: CBMPeripheralManager, didUnpublishL2CAPChannel PSM: CBML2CAPPSM, error: (any Error)?)

    /// A central opened a channel, or failed to.
    func peripheralManager(
        _ peripheral: CBMPeripheralManager, didOpen channel: CBML2CAPChannel?, error: (any Error)?)
}

extension CBMPeripheralManagerDelegate {
    /// Does nothing.
    public func peripheralManager(_ peripheral: CBMPeripheralManager, willRestoreState dict: [String: Any]) {}

    /// Does nothing.
    public func peripheralManagerDidStartAdvertising(_ peripheral: CBMPeripheralManager, error: (any Error)?) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBMPeripheralManager, didAdd service: CBMService, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBMPeripheralManager, central: CBMCentral, didSubscribeTo characteristic: CBMCharacteristic
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBMPeripheralManager, central: CBMCentral,
        didUnsubscribeFrom characteristic: CBMCharacteristic
    ) {}

    /// Refuses the request: `.requestNotSupported`.
    public func peripheralManager(_ peripheral: CBMPeripheralManager, didReceiveRead request: CBMATTRequest) {
        peripheral.respond(to: request, withResult: .requestNotSupported)
    }

    /// Refuses the request: `.requestNotSupported`.
    public func peripheralManager(_ peripheral: CBMPeripheralManager, didReceiveWrite requests: [CBMATTRequest]) {
        if let first = requests.first { peripheral.respond(to: first, withResult: .requestNotSupported) }
    }

    /// Does nothing.
    public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBMPeripheralManager) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBMPeripheralManager, didPublishL2CAPChannel PSM: CBML2CAPPSM, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBMPeripheralManager, didUnpublishL2CAPChannel PSM: CBML2CAPPSM, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: CBMPeripheralManager, didOpen channel: CBML2CAPChannel?, error: (any Error)?
    ) {}
}
