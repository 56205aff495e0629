import BluetoothBackend
import CoreBluetooth
import Foundation

extension EmulatedCBMutableService {
    /// Returns a service like this one, without its included services.
    func copy() -> EmulatedCBMutableService {
        let service = EmulatedCBMutableService(type: uuid, primary: isPrimary)
        service.characteristics = mutableCharacteristics.map { original in
            let characteristic = EmulatedCBMutableCharacteristic(
                type: original.uuid, properties: original.properties, value: original.value,
                permissions: original.permissions)
            if original.descriptors != nil {
                characteristic.descriptors = original.mutableDescriptors.map {
                    EmulatedCBMutableDescriptor(type: $0.uuid, value: $0.value, permissions: $0.permissions)
                }
            }
            return characteristic
        }
        return service
    }
}

extension ServiceDefinition {
    /// Returns the definitions of services of the module, which have no static values.
    static func definitions(of services: [CBMutableService]) -> [ServiceDefinition] {
        var last: UInt32 = 0
        func next() -> AttributeID {
            last += 1
            return AttributeID(rawValue: last)
        }
        var identifiers: [ObjectIdentifier: AttributeID] = [:]
        return services.map { service in
            let definition = ServiceDefinition(
                id: next(), uuid: service.uuid.backendUUID, isPrimary: service.isPrimary,
                included: (service.includedServices ?? []).compactMap { identifiers[ObjectIdentifier($0)] },
                characteristics: (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }.map {
                    Characteristic($0, next)
                })
            identifiers[ObjectIdentifier(service)] = definition.id
            return definition
        }
    }
}

extension ServiceDefinition.Characteristic {
    fileprivate init(_ characteristic: CBMutableCharacteristic, _ next: () -> AttributeID) {
        self.init(
            id: next(), uuid: characteristic.uuid.backendUUID,
            properties: CharacteristicProperties(
                rawValue: UInt16(truncatingIfNeeded: characteristic.properties.rawValue)),
            permissions: AttributePermissions(
                rawValue: UInt8(truncatingIfNeeded: characteristic.permissions.rawValue)),
            descriptors: (characteristic.descriptors ?? []).map { descriptor in
                let value = descriptor.value as? Data ?? Data((descriptor.value as? String ?? "").utf8)
                return ServiceDefinition.Descriptor(id: next(), uuid: descriptor.uuid.backendUUID, value: value)
            })
    }
}

extension EmulatedAdvertisement {
    /// The name and the services in the emulator's type.
    var backendAdvertisement: Advertisement {
        let services = data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        return Advertisement(
            localName: localName, serviceUUIDs: services.isEmpty ? nil : services.map(\.backendUUID),
            isConnectable: true)
    }
}
