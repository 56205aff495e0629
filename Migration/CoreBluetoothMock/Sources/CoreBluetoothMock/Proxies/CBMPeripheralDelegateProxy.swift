import CoreBluetooth

/// A delegate of a peripheral that calls closures.
///
/// Thread rule: set the closures before the manager calls them, or on its queue.
open class CBMPeripheralDelegateProxy: NSObject, CBMPeripheralDelegate {
    /// Called by `peripheralDidUpdateName(_:)`.
    public var didUpdateName: ((any CBMPeripheral) -> Void)?
    /// Called by `peripheral(_:didModifyServices:)`.
    public var didModifyServices: ((any CBMPeripheral, [CBMService]) -> Void)?
    /// Called by `peripheral(_:didReadRSSI:error:)`.
    public var didReadRSSI: ((any CBMPeripheral, NSNumber, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didDiscoverServices:)`.
    public var didDiscoverServices: ((any CBMPeripheral, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didDiscoverIncludedServicesFor:error:)`.
    public var didDiscoverIncludedServices: ((any CBMPeripheral, CBMService, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didDiscoverCharacteristicsFor:error:)`.
    public var didDiscoverCharacteristics: ((any CBMPeripheral, CBMService, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didUpdateValueFor:error:)`.
    public var didUpdateCharacteristicValue: ((any CBMPeripheral, CBMCharacteristic, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didWriteValueFor:error:)`.
    public var didWriteCharacteristicValue: ((any CBMPeripheral, CBMCharacteristic, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didUpdateNotificationStateFor:error:)`.
    public var didUpdateNotificationState: ((any CBMPeripheral, CBMCharacteristic, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didDiscoverDescriptorsFor:error:)`.
    public var didDiscoverDescriptors: ((any CBMPeripheral, CBMCharacteristic, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didUpdateValueFor:error:)`.
    public var didUpdateDescriptorValue: ((any CBMPeripheral, CBMDescriptor, (any Error)?) -> Void)?
    /// Called by `peripheral(_:didWriteValueFor:error:)`.
    public var didWriteDescriptorValue: ((any CBMPeripheral, CBMDescriptor, (any Error)?) -> Void)?
    /// Called by `peripheralIsReady(toSendWriteWithoutResponse:)`.
    public var isReadyToSendWriteWithoutResponse: ((any CBMPeripheral) -> Void)?

    /// Creates a delegate that does nothing.
    public override init() { super.init() }

    /// Calls ``didUpdateName``.
    open func peripheralDidUpdateName(_ peripheral: any CBMPeripheral) { didUpdateName?(peripheral) }

    /// Calls ``didModifyServices``.
    open func peripheral(_ peripheral: any CBMPeripheral, didModifyServices invalidatedServices: [CBMService]) {
        didModifyServices?(peripheral, invalidatedServices)
    }

    /// Calls ``didReadRSSI``.
    open func peripheral(_ peripheral: any CBMPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        didReadRSSI?(peripheral, RSSI, error)
    }

    /// Calls ``didDiscoverServices``.
    open func peripheral(_ peripheral: any CBMPeripheral, didDiscoverServices error: (any Error)?) {
        didDiscoverServices?(peripheral, error)
    }

    /// Calls ``didDiscoverIncludedServices``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverIncludedServicesFor service: CBMService, error: (any Error)?
    ) {
        didDiscoverIncludedServices?(peripheral, service, error)
    }

    /// Calls ``didDiscoverCharacteristics``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverCharacteristicsFor service: CBMService, error: (any Error)?
    ) {
        didDiscoverCharacteristics?(peripheral, service, error)
    }

    /// Calls ``didUpdateCharacteristicValue``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor characteristic: CBMCharacteristic, error: (any Error)?
    ) {
        didUpdateCharacteristicValue?(peripheral, characteristic, error)
    }

    /// Calls ``didWriteCharacteristicValue``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didWriteValueFor characteristic: CBMCharacteristic, error: (any Error)?
    ) {
        didWriteCharacteristicValue?(peripheral, characteristic, error)
    }

    /// Calls ``didUpdateNotificationState``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateNotificationStateFor characteristic: CBMCharacteristic,
        error: (any Error)?
    ) {
        didUpdateNotificationState?(peripheral, characteristic, error)
    }

    /// Calls ``didDiscoverDescriptors``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverDescriptorsFor characteristic: CBMCharacteristic,
        error: (any Error)?
    ) {
        didDiscoverDescriptors?(peripheral, characteristic, error)
    }

    /// Calls ``didUpdateDescriptorValue``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor descriptor: CBMDescriptor, error: (any Error)?
    ) {
        didUpdateDescriptorValue?(peripheral, descriptor, error)
    }

    /// Calls ``didWriteDescriptorValue``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didWriteValueFor descriptor: CBMDescriptor, error: (any Error)?
    ) {
        didWriteDescriptorValue?(peripheral, descriptor, error)
    }

    /// Calls ``isReadyToSendWriteWithoutResponse``.
    open func peripheralIsReady(toSendWriteWithoutResponse peripheral: any CBMPeripheral) {
        isReadyToSendWriteWithoutResponse?(peripheral)
    }

    /// Does nothing: see ``CBMPeripheralDelegateProxyWithL2CAPChannel``.
    open func peripheral(
        _ peripheral: any CBMPeripheral, didOpen channel: CBML2CAPChannel?, error: (any Error)?
    ) {}
}

/// A delegate of a peripheral that calls closures, also for L2CAP channels.
///
/// Thread rule: set the closures before the manager calls them, or on its queue.
open class CBMPeripheralDelegateProxyWithL2CAPChannel: CBMPeripheralDelegateProxy {
    /// Called by `peripheral(_:didOpen:error:)`.
    public var didOpenChannel: ((any CBMPeripheral, CBML2CAPChannel?, (any Error)?) -> Void)?

    /// Calls ``didOpenChannel``.
    open override func peripheral(
        _ peripheral: any CBMPeripheral, didOpen channel: CBML2CAPChannel?, error: (any Error)?
    ) {
        didOpenChannel?(peripheral, channel, error)
    }
}
