import CoreBluetooth

/// A walk through a whole GATT database, including descriptors and included services.
class DatabaseBrowser: NSObject, CBPeripheralDelegate {
    private(set) var lines: [String] = []

    func browse(_ peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices(nil)
        let mtu = peripheral.value(forKey: "mtuLength") as? NSNumber
        let identifier = peripheral.value(forKey: "identifier") as? NSUUID
        lines.append("\(identifier?.uuidString ?? "?") mtu \(mtu?.intValue ?? 23)")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] {
            lines.append("\(service.uuid) primary: \(service.isPrimary)")
            peripheral.discoverIncludedServices(nil, for: service)
            peripheral.discoverCharacteristics(nil, for: service)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: Error?) {
        service.includedServices?.forEach { peripheral.discoverCharacteristics([], for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        for characteristic in service.characteristics ?? [] {
            peripheral.discoverDescriptors(for: characteristic)
            if characteristic.properties.intersection([.read, .notify]) != [] {
                peripheral.readValue(for: characteristic)
            }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: Error?
    ) {
        characteristic.descriptors?.forEach { peripheral.readValue(for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: Error?) {
        switch descriptor.uuid.uuidString {
        case CBUUIDClientCharacteristicConfigurationString, CBUUIDCharacteristicExtendedPropertiesString:
            lines.append("number \(descriptor.value as? NSNumber ?? 0)")
        case CBUUIDCharacteristicUserDescriptionString:
            lines.append("text \(descriptor.value as? String ?? "")")
        case CBUUIDCharacteristicFormatString:
            lines.append("bytes \((descriptor.value as? Data)?.count ?? 0)")
        default:
            lines.append("other of \(descriptor.characteristic?.service?.uuid.uuidString ?? "nothing")")
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: Error?) {}

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        lines.removeAll()
        peripheral.discoverServices(invalidatedServices.map { $0.uuid })
    }
}
