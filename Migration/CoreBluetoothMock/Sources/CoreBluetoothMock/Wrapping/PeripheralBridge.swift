import CoreBluetooth

/// The delegate of a wrapped peripheral, which passes each callback to the wrapper.
final class PeripheralBridge: NSObject, CBPeripheralDelegate {
    // Set once; the runtime clears a weak reference atomically.
    private weak var owner: CBMWrappedPeripheral?

    init(_ owner: CBMWrappedPeripheral) { self.owner = owner }

    private func receive(_ callback: (CBMWrappedPeripheral) -> PeripheralCallback?) {
        guard let owner, let callback = callback(owner) else { return }
        owner.receive(callback)
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { receive { _ in .nameUpdated } }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        receive { .servicesModified($0.forget(invalidatedServices)) }
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        receive { _ in .rssiRead(RSSI, error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        receive { _ in .servicesDiscovered(error) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        receive { .includedServicesDiscovered($0.wrap(service), error) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        receive { .characteristicsDiscovered($0.wrap(service), error) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        receive { owner in
            guard let wrapper = owner.wrap(characteristic) else { return nil }
            if error == nil { wrapper.valueUpdated() }
            return .valueUpdated(wrapper, error)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        receive { owner in owner.wrap(characteristic).map { .valueWritten($0, error) } }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        receive { owner in
            guard let wrapper = owner.wrap(characteristic) else { return nil }
            wrapper.notificationStateUpdated()
            return .notificationStateUpdated(wrapper, error)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        receive { owner in owner.wrap(characteristic).map { .descriptorsDiscovered($0, error) } }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        receive { owner in
            guard let wrapper = owner.wrap(descriptor) else { return nil }
            if error == nil { wrapper.valueUpdated() }
            return .descriptorUpdated(wrapper, error)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        receive { owner in owner.wrap(descriptor).map { .descriptorWritten($0, error) } }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { receive { _ in .readyToWrite } }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        receive { _ in .channelOpened(channel, error) }
    }
}
