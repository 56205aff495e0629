import BluetoothBackend
import Foundation

extension LocalService {
    /// Reads the app's own objects, on the thread of the call.
    init(_ service: CBMutableService, for core: PeripheralCore) {
        let included = service.includedServices ?? []
        let characteristics = service.characteristics ?? []
        let own = characteristics.compactMap { $0 as? CBMutableCharacteristic }
        let descriptors = characteristics.flatMap { $0.descriptors ?? [] }
        self.init(
            key: ObjectKey(service), uuid: service.uuid.bluetoothUUID, isPrimary: service.isPrimary,
            included: included.map { ObjectKey($0) }, characteristics: own.map { Characteristic($0) },
            hasForeignParts: own.count < characteristics.count
                || !included.allSatisfy { $0 is CBMutableService }
                || !descriptors.allSatisfy { $0 is CBMutableDescriptor }
                || service.publication.isHeld(byOtherThan: core)
                || own.contains { $0.publication.isHeld(byOtherThan: core) })
    }
}

extension LocalService.Characteristic {
    fileprivate init(_ characteristic: CBMutableCharacteristic) {
        self.init(
            key: ObjectKey(characteristic), uuid: characteristic.uuid.bluetoothUUID,
            properties: CharacteristicProperties(
                rawValue: UInt16(truncatingIfNeeded: characteristic.properties.rawValue)),
            permissions: AttributePermissions(
                rawValue: UInt8(truncatingIfNeeded: characteristic.permissions.rawValue)),
            value: characteristic.value,
            descriptors: (characteristic.descriptors ?? []).map { LocalService.Descriptor($0) })
    }
}

extension LocalService.Descriptor {
    fileprivate init(_ descriptor: CBDescriptor) {
        let value: LocalService.DescriptorValue =
            switch descriptor.value {
            case let text as String: .text(text)
            case let bytes as Data: .bytes(bytes)
            default: .other
            }
        self.init(uuid: descriptor.uuid.bluetoothUUID, value: value)
    }
}
