public import CoreBluetooth

/// The callbacks of a peripheral manager, on its queue.
///
/// Only `peripheralManagerDidUpdateState(_:)` is required; the others do nothing by default.
public protocol EmulatedCBPeripheralManagerDelegate: AnyObject {
    /// `state` changed.
    func peripheralManagerDidUpdateState(_ peripheral: EmulatedCBPeripheralManager)

    /// The manager receives the state that was preserved under its restore identifier; before the first state.
    func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, willRestoreState dict: [String: Any])

    /// The answer to `startAdvertising(_:)`.
    func peripheralManagerDidStartAdvertising(_ peripheral: EmulatedCBPeripheralManager, error: (any Error)?)

    /// The answer to `add(_:)`.
    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didAdd service: EmulatedCBService, error: (any Error)?)

    /// A central subscribed.
    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, central: EmulatedCBCentral,
        didSubscribeTo characteristic: EmulatedCBCharacteristic)

    /// A central unsubscribed, or disconnected.
    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, central: EmulatedCBCentral,
        didUnsubscribeFrom characteristic: EmulatedCBCharacteristic)

    /// A central reads; see ``EmulatedCBPeripheralManager/respond(to:withResult:)``.
    func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, didReceiveRead request: EmulatedCBATTRequest)

    /// A central writes, a long value in parts; see ``EmulatedCBPeripheralManager/respond(to:withResult:)``.
    func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, didReceiveWrite requests: [EmulatedCBATTRequest])

    /// Values are accepted again.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: EmulatedCBPeripheralManager)

    /// The answer to `publishL2CAPChannel(withEncryption:)`; after an error the number is 0.
    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)

    /// The answer to `unpublishL2CAPChannel(_:)`.
    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)

    /// A central opened a channel.
    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didOpen channel: EmulatedCBL2CAPChannel?, error: (any Error)?)

    /// The ANCS authorization of a central changed on the bus.
    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didUpdateANCSAuthorizationFor central: EmulatedCBCentral)
}

extension EmulatedCBPeripheralManagerDelegate {
    /// Does nothing.
    public func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, willRestoreState dict: [String: Any]) {}

    /// Does nothing.
    public func peripheralManagerDidStartAdvertising(
        _ peripheral: EmulatedCBPeripheralManager, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didAdd service: EmulatedCBService, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, central: EmulatedCBCentral,
        didSubscribeTo characteristic: EmulatedCBCharacteristic
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, central: EmulatedCBCentral,
        didUnsubscribeFrom characteristic: EmulatedCBCharacteristic
    ) {}

    /// Leaves the answer to the manager: the stored value, or `.requestNotSupported` if Apple's rule applies.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didReceiveRead request: EmulatedCBATTRequest
    ) {
        peripheral.answer(unheard: request)
    }

    /// Leaves the answer to the manager: it stores the value, or answers `.requestNotSupported` if Apple's rule
    /// applies.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didReceiveWrite requests: [EmulatedCBATTRequest]
    ) {
        if let first = requests.first { peripheral.answer(unheard: first) }
    }

    /// Does nothing.
    public func peripheralManagerIsReady(toUpdateSubscribers peripheral: EmulatedCBPeripheralManager) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didOpen channel: EmulatedCBL2CAPChannel?, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didUpdateANCSAuthorizationFor central: EmulatedCBCentral
    ) {}
}
