public import CoreBluetooth

/// The callbacks of a peripheral, on the queue of the central manager that it came from.
///
/// All do nothing by default. Errors of the peripheral are `CBATTError`, others `CBError`.
public protocol EmulatedCBPeripheralDelegate: AnyObject {
    /// `name` changed.
    func peripheralDidUpdateName(_ peripheral: EmulatedCBPeripheral)

    /// The peripheral withdrew these services, or changed its services.
    func peripheral(_ peripheral: EmulatedCBPeripheral, didModifyServices invalidatedServices: [EmulatedCBService])

    /// The answer to `readRSSI()`, in dBm.
    func peripheral(_ peripheral: EmulatedCBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)

    /// The answer to `discoverServices(_:)`.
    func peripheral(_ peripheral: EmulatedCBPeripheral, didDiscoverServices error: (any Error)?)

    /// The answer to `discoverIncludedServices(_:for:)`.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverIncludedServicesFor service: EmulatedCBService,
        error: (any Error)?)

    /// The answer to `discoverCharacteristics(_:for:)`.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverCharacteristicsFor service: EmulatedCBService,
        error: (any Error)?)

    /// The answer to a read, or a notification or indication.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?)

    /// The answer to a write with response.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didWriteValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?)

    /// The answer to `setNotifyValue(_:for:)`.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateNotificationStateFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?)

    /// The answer to `discoverDescriptors(for:)`.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverDescriptorsFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?)

    /// The answer to the read of a descriptor.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor descriptor: EmulatedCBDescriptor, error: (any Error)?)

    /// The answer to the write of a descriptor.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didWriteValueFor descriptor: EmulatedCBDescriptor, error: (any Error)?)

    /// Writes without response are accepted again.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: EmulatedCBPeripheral)

    /// The answer to `openL2CAPChannel(_:)`: a channel or an error.
    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didOpen channel: EmulatedCBL2CAPChannel?, error: (any Error)?)
}

extension EmulatedCBPeripheralDelegate {
    /// Does nothing.
    public func peripheralDidUpdateName(_ peripheral: EmulatedCBPeripheral) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didModifyServices invalidatedServices: [EmulatedCBService]
    ) {}

    /// Does nothing.
    public func peripheral(_ peripheral: EmulatedCBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {}

    /// Does nothing.
    public func peripheral(_ peripheral: EmulatedCBPeripheral, didDiscoverServices error: (any Error)?) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverIncludedServicesFor service: EmulatedCBService,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverCharacteristicsFor service: EmulatedCBService,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didWriteValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateNotificationStateFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverDescriptorsFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor descriptor: EmulatedCBDescriptor, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didWriteValueFor descriptor: EmulatedCBDescriptor, error: (any Error)?
    ) {}

    /// Does nothing.
    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: EmulatedCBPeripheral) {}

    /// Does nothing.
    public func peripheral(
        _ peripheral: EmulatedCBPeripheral, didOpen channel: EmulatedCBL2CAPChannel?, error: (any Error)?
    ) {}
}
