import BluetoothBackend
import Foundation

/// State restoration, on the manager's queue.
extension PeripheralCore {
    /// Makes the objects of what an earlier process published.
    func restore(_ restored: RestoredPeripheralState) {
        guard canRestore else { return log(.noRestoreIdentifier) }
        var services: [AttributeID: CBMutableService] = [:]
        let objects = restored.services.map { definition in
            let service = CBMutableService(definition)
            service.includedServices = definition.included.compactMap { services[$0] }
            services[definition.id] = service
            return (service, (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic })
        }
        transitionWithObjects { state in
            for (definition, (service, characteristics)) in zip(restored.services, objects) {
                state.objects.keep(service, characteristics, as: definition)
                service.publication.hold(by: self)
                for characteristic in characteristics {
                    characteristic.publication.hold(by: self, isStatic: characteristic.value != nil)
                }
            }
            return state.machine.restore(
                restored, as: objects.map { (ObjectKey($0), $1.map { ObjectKey($0) }) })
        }
    }

    /// S141, S143.
    func willRestore(_ restored: RestoredPeripheralState, by manager: CBPeripheralManager) {
        for subscription in restored.subscriptions {
            characteristic(subscription.attribute)?
                .addSubscriber(central(subscription.central, mtu: max(subscription.mtu, 23)))
        }
        var dictionary: [String: Any] = [:]
        let services = restored.services.compactMap { service($0.id) }
        if !services.isEmpty { dictionary[CBPeripheralManagerRestoredStateServicesKey] = services }
        dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] = restored.advertisement?.givenData
        delegate?.peripheralManager(manager, willRestoreState: dictionary)
    }
}

extension Advertisement {
    /// What an app gave for it.
    fileprivate var givenData: [String: Any] {
        var data: [String: Any] = [:]
        data[CBAdvertisementDataLocalNameKey] = localName
        let uuids = (serviceUUIDs ?? []) + (overflowServiceUUIDs ?? [])
        if !uuids.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = uuids.map(CBUUID.init) }
        return data
    }
}

extension CBMutableService {
    /// A service as it was published.
    fileprivate convenience init(_ definition: ServiceDefinition) {
        self.init(type: CBUUID(definition.uuid), primary: definition.isPrimary)
        characteristics = definition.characteristics.map { part in
            let characteristic = CBMutableCharacteristic(
                type: CBUUID(part.uuid),
                properties: CBCharacteristicProperties(rawValue: UInt(part.properties.rawValue)),
                value: part.staticValue,
                permissions: CBAttributePermissions(rawValue: UInt(part.permissions.rawValue)))
            characteristic.descriptors = part.descriptors.map(CBMutableDescriptor.init)
            return characteristic
        }
    }
}

extension CBMutableDescriptor {
    /// A user description is text, a presentation format is bytes (S115).
    fileprivate convenience init(_ definition: ServiceDefinition.Descriptor) {
        let isText = definition.uuid.bits16 == 0x2901
        self.init(
            type: CBUUID(definition.uuid),
            value: isText ? String(decoding: definition.value, as: UTF8.self) : definition.value)
    }
}
