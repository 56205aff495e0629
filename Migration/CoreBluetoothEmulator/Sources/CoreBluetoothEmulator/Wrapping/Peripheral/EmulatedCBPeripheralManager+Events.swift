import CoreBluetooth
import Foundation

/// What happens to a peripheral manager, on its queue.
extension EmulatedCBPeripheralManager {
    func didUpdateState() {
        if [.unknown, .resetting, .unsupported, .unauthorized].contains(state) {
            fields.withLock { $0.published.removeAll() }
        }
        if let restored = world.takeRestoration(of: self) { restored() }
        delegate?.peripheralManagerDidUpdateState(self)
    }

    func willRestore(_ dictionary: [String: Any]) {
        let saved = world.finishRestoration(of: self)
        var restored: [String: Any] = [:]
        let cores = dictionary[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let services = (saved?.services ?? []).map { $0.copy() }
        fields.withLock { fields in
            for (service, core) in zip(services, cores) { fields.published.append(service, core, of: self) }
        }
        if !services.isEmpty { restored[CBPeripheralManagerRestoredStateServicesKey] = services }
        if let advertisement = saved?.advertisement {
            setAdvertisement(advertisement)
            restored[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertisement.data
        }
        delegate?.peripheralManager(self, willRestoreState: restored)
    }

    func didAdd(_ core: CBService, _ error: (any Error)?) {
        guard let service = fields.withLock({ $0.published.service(of: core) }) else { return }
        if error != nil, !isPublished(core) { fields.withLock { $0.published.remove(core) } }
        delegate?.peripheralManager(self, didAdd: service, error: error)
    }

    func didChangeSubscription(of central: CBCentral, to core: CBCharacteristic, isOn: Bool) {
        guard let characteristic = fields.withLock({ $0.published.characteristic(of: core) }) else { return }
        let central = self.central(for: central)
        if isOn {
            delegate?.peripheralManager(self, central: central, didSubscribeTo: characteristic)
        } else {
            delegate?.peripheralManager(self, central: central, didUnsubscribeFrom: characteristic)
        }
    }
}

extension EmulatedCBMutableService {
    /// A service like this one, for the manager that restores it; without what it includes.
    fileprivate func copy() -> EmulatedCBMutableService {
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
