import CoreBluetooth

/// A bridge that passes the callbacks of CoreBluetooth's peripheral to the emulated one.
final class PeripheralBridge: NSObject, CBPeripheralDelegate {
    weak var peripheral: EmulatedCBPeripheral?

    func peripheralDidUpdateName(_ core: CBPeripheral) {
        guard let peripheral, peripheral.noteName() else { return }
        peripheral.delegate?.peripheralDidUpdateName(peripheral)
    }

    func peripheral(_ core: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        guard let peripheral else { return }
        peripheral.delegate?.peripheral(
            peripheral, didModifyServices: invalidatedServices.map(peripheral.service))
    }

    func peripheral(_ core: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        peripheral?.answered(.rssi, error) {
            $1.peripheral($0, didReadRSSI: error == nil ? $0.clamped(RSSI) : RSSI, error: error)
        }
    }

    func peripheral(_ core: CBPeripheral, didDiscoverServices error: (any Error)?) {
        peripheral?.answered(.services, error) { $1.peripheral($0, didDiscoverServices: error) }
    }

    func peripheral(_ core: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?) {
        peripheral?.answered(.included(ObjectIdentifier(service)), error) {
            $1.peripheral($0, didDiscoverIncludedServicesFor: $0.service(for: service), error: error)
        }
    }

    func peripheral(_ core: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        peripheral?.answered(.characteristics(ObjectIdentifier(service)), error) {
            $1.peripheral($0, didDiscoverCharacteristicsFor: $0.service(for: service), error: error)
        }
    }

    func peripheral(
        _ core: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        if error == nil { peripheral?.updateDescriptors(of: characteristic) }
        peripheral?.answered(.descriptors(ObjectIdentifier(characteristic)), error) {
            $1.peripheral($0, didDiscoverDescriptorsFor: $0.characteristic(for: characteristic), error: error)
        }
    }

    func peripheral(_ core: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
        if error == nil { peripheral?.characteristic(for: characteristic).setValue(characteristic.value) }
        peripheral?.answered(.read(ObjectIdentifier(characteristic)), error) {
            $1.peripheral($0, didUpdateValueFor: $0.characteristic(for: characteristic), error: error)
        }
    }

    func peripheral(_ core: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?) {
        peripheral?.answered(.write(ObjectIdentifier(characteristic)), error) {
            $1.peripheral($0, didWriteValueFor: $0.characteristic(for: characteristic), error: error)
        }
    }

    func peripheral(
        _ core: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        peripheral?.characteristic(for: characteristic).setNotifying(characteristic.isNotifying)
        peripheral?.answered(.subscription(ObjectIdentifier(characteristic)), error) {
            $1.peripheral($0, didUpdateNotificationStateFor: $0.characteristic(for: characteristic), error: error)
        }
    }

    func peripheral(_ core: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        guard let object = peripheral?.descriptor(for: descriptor) else { return }
        if error == nil { object.setValue(descriptor.value) }
        peripheral?.answered(.read(ObjectIdentifier(descriptor)), error) {
            $1.peripheral($0, didUpdateValueFor: object, error: error)
        }
    }

    func peripheral(_ core: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        guard let object = peripheral?.descriptor(for: descriptor) else { return }
        peripheral?.answered(.write(ObjectIdentifier(descriptor)), error) {
            $1.peripheral($0, didWriteValueFor: object, error: error)
        }
    }

    func peripheralIsReady(toSendWriteWithoutResponse core: CBPeripheral) { peripheral?.reportReady() }

    func peripheral(_ core: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let peripheral else { return }
        let opened = channel.map { channel in
            EmulatedCBL2CAPChannel(
                channel, to: peripheral, psm: peripheral.server?.publishedPSM(of: channel.psm) ?? channel.psm,
                in: peripheral.world)
        }
        peripheral.answered(.channel, error, channel: opened) { $1.peripheral($0, didOpen: opened, error: error) }
    }
}

extension EmulatedCBPeripheral {
    /// Passes an answer to its completion, or to the delegate.
    fileprivate func answered(
        _ key: RequestLedger.Key, _ error: (any Error)?, channel: EmulatedCBL2CAPChannel? = nil,
        _ call: (EmulatedCBPeripheral, any EmulatedCBPeripheralDelegate) -> Void
    ) {
        guard let completion = fields.withLock({ $0.requests.removeFirst(key) }) else {
            if let delegate { call(self, delegate) }
            return
        }
        if let error { return completion(.failed(error)) }
        completion(channel.map { .channel($0) } ?? .done)
    }
}
