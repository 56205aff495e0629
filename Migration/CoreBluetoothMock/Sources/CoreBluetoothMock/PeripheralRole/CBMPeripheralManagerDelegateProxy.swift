import CoreBluetooth

/// A delegate of a peripheral manager that calls closures.
///
/// A request whose closure is not set is refused with `.requestNotSupported`.
///
/// Thread rule: set the closures before the manager calls them, or on its queue.
open class CBMPeripheralManagerDelegateProxy: NSObject, CBMPeripheralManagerDelegate {
    /// Called by `peripheralManagerDidUpdateState(_:)`.
    public var didUpdateState: ((CBMPeripheralManager) -> Void)?
    /// Called by `peripheralManager(_:willRestoreState:)`.
    public var willRestoreState: ((CBMPeripheralManager, [String: Any]) -> Void)?
    /// Called by `peripheralManagerDidStartAdvertising(_:error:)`.
    public var didStartAdvertising: ((CBMPeripheralManager, (any Error)?) -> Void)?
    /// Called by `peripheralManager(_:didAdd:error:)`.
    public var didAddService: ((CBMPeripheralManager, CBMService, (any Error)?) -> Void)?
    /// Called by `peripheralManager(_:central:didSubscribeTo:)`.
    public var didSubscribe: ((CBMPeripheralManager, CBMCentral, CBMCharacteristic) -> Void)?
    /// Called by `peripheralManager(_:central:didUnsubscribeFrom:)`.
    public var didUnsubscribe: ((CBMPeripheralManager, CBMCentral, CBMCharacteristic) -> Void)?
    /// Called by `peripheralManager(_:didReceiveRead:)`.
    public var didReceiveRead: ((CBMPeripheralManager, CBMATTRequest) -> Void)?
    /// Called by `peripheralManager(_:didReceiveWrite:)`.
    public var didReceiveWrite: ((CBMPeripheralManager, [CBMATTRequest]) -> Void)?
    /// Called by `peripheralManagerIsReady(toUpdateSubscribers:)`.
    public var isReadyToUpdateSubscribers: ((CBMPeripheralManager) -> Void)?
    /// Called by `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    public var didPublishL2CAPChannel: ((CBMPeripheralManager, CBML2CAPPSM, (any Error)?) -> Void)?
    /// Called by `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    public var didUnpublishL2CAPChannel: ((CBMPeripheralManager, CBML2CAPPSM, (any Error)?) -> Void)?
    /// Called by `peripheralManager(_:didOpen:error:)`.
    public var didOpenChannel: ((CBMPeripheralManager, CBML2CAPChannel?, (any Error)?) -> Void)?

    /// Creates a delegate that does nothing.
    public override init() { super.init() }

    /// Calls ``didUpdateState``.
    open func peripheralManagerDidUpdateState(_ peripheral: CBMPeripheralManager) {
        didUpdateState?(peripheral)
    }

    /// Calls ``willRestoreState``.
    open func peripheralManager(_ peripheral: CBMPeripheralManager, willRestoreState dict: [String: Any]) {
        willRestoreState?(peripheral, dict)
    }

    /// Calls ``didStartAdvertising``.
    open func peripheralManagerDidStartAdvertising(_ peripheral: CBMPeripheralManager, error: (any Error)?) {
        didStartAdvertising?(peripheral, error)
    }

    /// Calls ``didAddService``.
    open func peripheralManager(
        _ peripheral: CBMPeripheralManager, didAdd service: CBMService, error: (any Error)?
    ) {
        didAddService?(peripheral, service, error)
    }

    /// Calls ``didSubscribe``.
    open func peripheralManager(
        _ peripheral: CBMPeripheralManager, central: CBMCentral, didSubscribeTo characteristic: CBMCharacteristic
    ) {
        didSubscribe?(peripheral, central, characteristic)
    }

    /// Calls ``didUnsubscribe``.
    open func peripheralManager(
        _ peripheral: CBMPeripheralManager, central: CBMCentral,
        didUnsubscribeFrom characteristic: CBMCharacteristic
    ) {
        didUnsubscribe?(peripheral, central, characteristic)
    }

    /// Calls ``didReceiveRead``.
    open func peripheralManager(_ peripheral: CBMPeripheralManager, didReceiveRead request: CBMATTRequest) {
        guard let didReceiveRead else {
            peripheral.respond(to: request, withResult: .requestNotSupported)
            return
        }
        didReceiveRead(peripheral, request)
    }

    /// Calls ``didReceiveWrite``.
    open func peripheralManager(_ peripheral: CBMPeripheralManager, didReceiveWrite requests: [CBMATTRequest]) {
        guard let didReceiveWrite else {
            if let first = requests.first { peripheral.respond(to: first, withResult: .requestNotSupported) }
            return
        }
        didReceiveWrite(peripheral, requests)
    }

    /// Calls ``isReadyToUpdateSubscribers``.
    open func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBMPeripheralManager) {
        isReadyToUpdateSubscribers?(peripheral)
    }

    /// Calls ``didPublishL2CAPChannel``.
    open func peripheralManager(
        _ peripheral: CBMPeripheralManager, didPublishL2CAPChannel PSM: CBML2CAPPSM, error: (any Error)?
    ) {
        didPublishL2CAPChannel?(peripheral, PSM, error)
    }

    /// Calls ``didUnpublishL2CAPChannel``.
    open func peripheralManager(
        _ peripheral: CBMPeripheralManager, didUnpublishL2CAPChannel PSM: CBML2CAPPSM, error: (any Error)?
    ) {
        didUnpublishL2CAPChannel?(peripheral, PSM, error)
    }

    /// Calls ``didOpenChannel``.
    open func peripheralManager(
        _ peripheral: CBMPeripheralManager, didOpen channel: CBML2CAPChannel?, error: (any Error)?
    ) {
        didOpenChannel?(peripheral, channel, error)
    }
}
