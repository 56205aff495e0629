import BluetoothBackend
import BluetoothLocking
import Foundation
import Synchronization

/// What the core does to a peripheral, on the manager's queue: properties first, then the delegate (S162).
extension CBPeripheral {
    /// A notification or an indication (S91).
    func didNotify(_ id: AttributeID, _ value: Data) { didUpdate(id, value, isNotification: true) }

    private func didUpdate(_ id: AttributeID, _ value: Data, isNotification: Bool) {
        let (delegate, attribute) = lookUp(id)
        guard let characteristic = attribute as? CBCharacteristic else { return }
        characteristic.setValue(value, isNotification: isNotification)
        delegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
    }

    /// An operation is done.
    func didAnswer(_ answer: LinkAnswer, on link: LinkID) {
        switch answer {
        case .characteristicRead(let id, let value):
            didUpdate(id, value, isNotification: false)
        case .characteristicWritten(let id):
            let (delegate, attribute) = lookUp(id)
            guard let characteristic = attribute as? CBCharacteristic else { return }
            delegate?.peripheral(self, didWriteValueFor: characteristic, error: nil)
        case .notifying(let id, let isNotifying):
            let (delegate, attribute) = lookUp(id)
            guard let characteristic = attribute as? CBCharacteristic else { return }
            characteristic.setNotifying(isNotifying)
            delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: nil)
        case .descriptorRead(let id, let value):
            let (delegate, attribute) = lookUp(id)
            guard let descriptor = attribute as? CBDescriptor else { return }
            descriptor.setValue(value)
            delegate?.peripheral(self, didUpdateValueFor: descriptor, error: nil)
        case .descriptorWritten(let id):
            let (delegate, attribute) = lookUp(id)
            guard let descriptor = attribute as? CBDescriptor else { return }
            delegate?.peripheral(self, didWriteValueFor: descriptor, error: nil)
        case .rssi(let rssi):
            let number = Unchecked(NSNumber(value: rssi))
            fields.withLock { $0.value.rssi = number.value }
            delegate?.peripheral(self, didReadRSSI: number.value, error: nil)
        case .failed(let kind, let error): didFail(kind, error)
        case .channelOpened(let psm, let id):
            guard let channel = CBL2CAPChannel(id, in: core.channels, peer: self, psm: psm) else { return }
            delegate?.peripheral(self, didOpen: channel, error: nil)
        case .services, .includedServices, .characteristics, .descriptors: didDiscover(answer, on: link)
        }
    }

    private func didDiscover(_ answer: LinkAnswer, on link: LinkID) {
        switch answer {
        case .services(let found):
            let new = Unchecked(found.map { service($0, on: link) })
            fields.withLock { $0.value.services = ($0.value.services ?? []) + new.value }
            delegate?.peripheral(self, didDiscoverServices: nil)
        case .includedServices(let id, let found):
            let (delegate, attribute) = lookUp(id)
            guard let parent = attribute as? CBService else { return }
            parent.append(included: found.map { service($0, on: link) })
            delegate?.peripheral(self, didDiscoverIncludedServicesFor: parent, error: nil)
        case .characteristics(let id, let found):
            let (delegate, attribute) = lookUp(id)
            guard let parent = attribute as? CBService else { return }
            let new = found.map { CBCharacteristic($0, on: link, of: parent) }
            remember(new)
            parent.append(new)
            delegate?.peripheral(self, didDiscoverCharacteristicsFor: parent, error: nil)
        case .descriptors(let id, let found):
            let (delegate, attribute) = lookUp(id)
            guard let parent = attribute as? CBCharacteristic else { return }
            let new = found.map { CBDescriptor($0, on: link, of: parent) }
            remember(new)
            parent.append(new)
            delegate?.peripheral(self, didDiscoverDescriptorsFor: parent, error: nil)
        default: break
        }
    }

    /// S64: the error goes to the method of the call, collections keep their content.
    private func didFail(_ kind: LinkOperation, _ error: BackendError) {
        let error = error.appError
        switch kind {
        case .rssi: delegate?.peripheral(self, didReadRSSI: NSNumber(value: 127), error: error)
        case .services: delegate?.peripheral(self, didDiscoverServices: error)
        case .channel: delegate?.peripheral(self, didOpen: nil, error: error)
        case .includedServices(let id), .characteristics(let id), .descriptors(let id), .readCharacteristic(let id),
            .readDescriptor(let id), .writeCharacteristic(let id), .writeDescriptor(let id), .notify(let id, _):
            let (delegate, attribute) = lookUp(id)
            guard let delegate, let attribute else { return }
            didFail(kind, of: attribute, error, delegate)
        }
    }

    private func didFail(
        _ kind: LinkOperation, of attribute: CBAttribute, _ error: any Error, _ delegate: any CBPeripheralDelegate
    ) {
        switch (kind, attribute) {
        case (.includedServices, let service as CBService):
            delegate.peripheral(self, didDiscoverIncludedServicesFor: service, error: error)
        case (.characteristics, let service as CBService):
            delegate.peripheral(self, didDiscoverCharacteristicsFor: service, error: error)
        case (.descriptors, let characteristic as CBCharacteristic):
            delegate.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: error)
        case (.readCharacteristic, let characteristic as CBCharacteristic):
            delegate.peripheral(self, didUpdateValueFor: characteristic, error: error)
        case (.writeCharacteristic, let characteristic as CBCharacteristic):
            delegate.peripheral(self, didWriteValueFor: characteristic, error: error)
        case (.notify, let characteristic as CBCharacteristic):
            delegate.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error)
        case (.readDescriptor, let descriptor as CBDescriptor):
            delegate.peripheral(self, didUpdateValueFor: descriptor, error: error)
        case (.writeDescriptor, let descriptor as CBDescriptor):
            delegate.peripheral(self, didWriteValueFor: descriptor, error: error)
        default: break
        }
    }

    // MARK: Objects

    /// A service, characteristic or descriptor of the present link.
    func attribute(_ id: AttributeID) -> CBAttribute? { lookUp(id).1 }

    private func lookUp(_ id: AttributeID) -> ((any CBPeripheralDelegate)?, CBAttribute?) {
        fields.withLock { Unchecked(($0.value.delegate, $0.value.attributes[id])) }.value
    }

    /// The object of a service: the same one, however it was found.
    private func service(_ record: ServiceRecord, on link: LinkID) -> CBService {
        if let known = lookUp(record.id).1 as? CBService { return known }
        let new = CBService(record, on: link, of: self)
        remember([new])
        return new
    }

    private func remember(_ attributes: [CBAttribute]) {
        let new = Unchecked(attributes)
        fields.withLock { fields in
            for attribute in new.value {
                if let id = attribute.reference?.id { fields.value.attributes[id] = attribute }
            }
        }
    }

    /// What an earlier process knew of the peripheral (S142).
    func restore(_ services: [RestoredCentralState.Service], on link: LinkID) {
        let objects = services.map { known in
            let object = service(known.record, on: link)
            let characteristics = known.characteristics.map { CBCharacteristic($0, on: link, of: object) }
            for (characteristic, record) in zip(characteristics, known.characteristics) {
                characteristic.setNotifying(known.notifying.contains(record.id))
            }
            remember(characteristics)
            object.append(characteristics)
            return object
        }
        let new = Unchecked(objects)
        fields.withLock { $0.value.services = new.value }
    }

    func setName(_ name: String?) {
        fields.withLock { $0.value.name = name }
    }

    func setAddress(_ address: String?) {
        guard let address else { return }
        fields.withLock { $0.value.address = address }
    }

    /// The services are gone at the peripheral; they leave the lists (S101, S102).
    ///
    /// - Returns: Their objects.
    func removeServices(_ ids: [AttributeID]) -> [CBService] {
        let gone = ids.compactMap { lookUp($0).1 as? CBService }
        let identities = Set(gone.map { ObjectIdentifier($0) })
        let rest = fields.withLock { fields in
            fields.value.services?.removeAll { identities.contains(ObjectIdentifier($0)) }
            return Unchecked(fields.value.services)
        }.value
        rest?.forEach { $0.removeIncluded(identities) }
        return gone
    }

    /// The link is over: what was discovered on it means nothing any more (S47).
    func invalidateAttributes() {
        // The objects end with `old`, outside the lock.
        let old = fields.withLock { fields in
            defer {
                fields.value.services = nil
                fields.value.attributes = [:]
            }
            return Unchecked((fields.value.services, fields.value.attributes))
        }
        _ = old
    }
}
