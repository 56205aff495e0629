import CoreBluetooth

/// The callbacks of a peripheral.
///
/// Every method runs on the queue of the manager that the peripheral came from, one at a time. All have default bodies
/// that do nothing. Errors of the device are ``CBMATTError``, or the error of its spec's delegate.
public protocol CBMPeripheralDelegate: AnyObject {
    /// `peripheral.name` changed.
    func peripheralDidUpdateName(_ peripheral: any CBMPeripheral)

    /// The device changed its services. Those in the array are no longer valid; discover again.
    func peripheral(_ peripheral: any CBMPeripheral, didModifyServices invalidatedServices: [CBMService])

    /// The answer to `readRSSI()`: the signal strength in dBm.
    func peripheral(_ peripheral: any CBMPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)

    /// The answer to `discoverServices(_:)`; see `peripheral.services`.
    func peripheral(_ peripheral: any CBMPeripheral, didDiscoverServices error: (any Error)?)

    /// The answer to `discoverIncludedServices(_:for:)`; see `service.includedServices`.
    func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverIncludedServicesFor service: CBMService, error: (any Error)?)

    /// The answer to `discoverCharacteristics(_:for:)`; see `service.characteristics`.
    func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverCharacteristicsFor service: CBMService, error: (any Error)?)

    /// A value was read, notified or indicated; see `characteristic.value`.
    func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor characteristic: CBMCharacteristic, error: (any Error)?)

    /// The answer to a write with response.
    func peripheral(
        _ peripheral: any CBMPeripheral, didWriteValueFor characteristic: CBMCharacteristic, error: (any Error)?)

    /// The answer to `setNotifyValue(_:for:)`; see `characteristic.isNotifying`.
    func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateNotificationStateFor characteristic: CBMCharacteristic,
        error: (any Error)?)

    /// The answer to `discoverDescriptors(for:)`; see `characteristic.descriptors`.
    func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverDescriptorsFor characteristic: CBMCharacteristic,
        error: (any Error)?)

    /// A descriptor was read; see `descriptor.value`.
    func peripheral(_ peripheral: any CBMPeripheral, didUpdateValueFor descriptor: CBMDescriptor, error: (any Error)?)

    /// The answer to the write of a descriptor.
    func peripheral(_ peripheral: any CBMPeripheral, didWriteValueFor descriptor: CBMDescriptor, error: (any Error)?)

    /// `canSendWriteWithoutResponse` became true again.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: any CBMPeripheral)

    /// The answer to `openL2CAPChannel(_:)`: a channel or an error.
    func peripheral(_ peripheral: any CBMPeripheral, didOpen channel: CBML2CAPChannel?, error: (any Error)?)
}

extension CBMPeripheralDelegate {
    /// Does nothing.
    public func peripheralDidUpdateName(_ peripheral: any CBMPeripheral) {}

    /// Does nothing.
    public func peripheral(_ peripheral: any CBMPeripheral, didModifyServices invalidatedServices: [CBMService]) {}

    /// Does nothing.
    public func peripheral(_ peripheral: any CBMPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {}

    /// Does nothing.
    public func peripheral(_ peripheral: any CBMPeripheral, didDiscoverServices error: (any Error)?) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverIncludedServicesFor service: CBMService, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverCharacteristicsFor service: CBMService, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor characteristic: CBMCharacteristic, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: any CBMPeripheral, didWriteValueFor characteristic: CBMCharacteristic, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateNotificationStateFor characteristic: CBMCharacteristic,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverDescriptorsFor characteristic: CBMCharacteristic,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor descriptor: CBMDescriptor, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: any CBMPeripheral, didWriteValueFor descriptor: CBMDescriptor, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: any CBMPeripheral) {}

    /// Does nothing.
    public func peripheral(_ peripheral: any CBMPeripheral, didOpen channel: CBML2CAPChannel?, error: (any Error)?) {}
}
