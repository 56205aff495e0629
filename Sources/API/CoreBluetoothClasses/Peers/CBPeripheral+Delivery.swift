import BluetoothBackend
import BluetoothSupport
import Foundation

/// Delivery to a peripheral, on the manager's queue: properties first, then the delegate (S162).
extension CBPeripheral {
    /// A notification or an indication (S91).
    func didNotify(_ id: AttributeID, _ value: Data) { didUpdate(id, value, isNotification: true) }

    /// Reports that a subscription ended without a request of the app.
    func didEndSubscription(_ id: AttributeID, _ error: any Error) {
        let (delegate, attribute) = lookUp(id)
        guard let characteristic = attribute as? CBCharacteristic else { return }
        characteristic.setNotifying(false)
        delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error)
    }

    private func didUpdate(_ id: AttributeID, _ value: Data, isNotification: Bool) {
        let (delegate, attribute) = lookUp(id)
        if let characteristic = attribute as? CBCharacteristic {
            characteristic.setValue(value, isNotification: isNotification)
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
        } else if let descriptor = attribute as? CBDescriptor {
            descriptor.setValue(value)
            delegate?.peripheral(self, didUpdateValueFor: descriptor, error: nil)
        }
    }

    func didRespond(to request: LinkRequest, _ response: LinkResponse, on link: LinkID) {
        switch (request, response) {
        case (_, .failure(let error)): didComplete(request, error.appError)
        case (.read(let id), .value(let value)): didUpdate(id, value, isNotification: false)
        case (.setNotifying(let id, _), .notifying(let isNotifying)):
            (lookUp(id).1 as? CBCharacteristic)?.setNotifying(isNotifying)
            didComplete(request, nil)
        case (.readRSSI, .rssi(let rssi)):
            let number = NSNumber(value: rssi)
            fields.withLock { $0.rssi = number }
            delegate?.peripheral(self, didReadRSSI: number, error: nil)
        case (.openChannel(let psm), .channel(let id, _)):
            guard let channel = CBL2CAPChannel(id, in: core.channels, peer: self, psm: psm) else { return }
            delegate?.peripheral(self, didOpen: channel, error: nil)
        case (.discoverServices, .services(let found)):
            let new = found.map { service($0, on: link) }
            fields.withLock { $0.services = ($0.services ?? []) + new }
            didComplete(request, nil)
        case (.discoverIncludedServices(let id, _), .services(let found)):
            (lookUp(id).1 as? CBService)?.append(included: found.map { service($0, on: link) })
            didComplete(request, nil)
        case (.discoverCharacteristics(let id, _), .characteristics(let found)):
            guard let parent = lookUp(id).1 as? CBService else { return }
            let new = found.map { CBCharacteristic($0, on: link, of: parent) }
            remember(new)
            parent.append(new)
            didComplete(request, nil)
        case (.discoverDescriptors(let id), .descriptors(let found)):
            guard let parent = lookUp(id).1 as? CBCharacteristic else { return }
            let new = found.map { CBDescriptor($0, on: link, of: parent) }
            remember(new)
            parent.append(new)
            didComplete(request, nil)
        default: didComplete(request, nil)
        }
    }

    /// Calls the delegate method of a request, with the error if it failed.
    ///
    /// The error goes to the method of the call, collections keep their content (S64).
    private func didComplete(_ request: LinkRequest, _ error: (any Error)?) {
        guard let id = request.attribute else {
            switch request {
            case .readRSSI: delegate?.peripheral(self, didReadRSSI: NSNumber(value: 127), error: error)
            case .openChannel: delegate?.peripheral(self, didOpen: nil, error: error)
            default: delegate?.peripheral(self, didDiscoverServices: error)
            }
            return
        }
        let (delegate, attribute) = lookUp(id)
        guard let delegate, let attribute else { return }
        switch (request, attribute) {
        case (.discoverIncludedServices, let service as CBService):
            delegate.peripheral(self, didDiscoverIncludedServicesFor: service, error: error)
        case (.discoverCharacteristics, let service as CBService):
            delegate.peripheral(self, didDiscoverCharacteristicsFor: service, error: error)
        case (.discoverDescriptors, let characteristic as CBCharacteristic):
            delegate.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: error)
        case (.read, let characteristic as CBCharacteristic):
            delegate.peripheral(self, didUpdateValueFor: characteristic, error: error)
        case (.write, let characteristic as CBCharacteristic):
            delegate.peripheral(self, didWriteValueFor: characteristic, error: error)
        case (.setNotifying, let characteristic as CBCharacteristic):
            delegate.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error)
        case (.read, let descriptor as CBDescriptor):
            delegate.peripheral(self, didUpdateValueFor: descriptor, error: error)
        case (.write, let descriptor as CBDescriptor):
            delegate.peripheral(self, didWriteValueFor: descriptor, error: error)
        default: break
        }
    }

    // MARK: Objects

    /// Returns a service, characteristic or descriptor of the present link.
    func attribute(_ id: AttributeID) -> CBAttribute? { lookUp(id).1 }

    private func lookUp(_ id: AttributeID) -> ((any CBPeripheralDelegate)?, CBAttribute?) {
        fields.withLock { ($0.delegate, $0.attributes[id]) }
    }

    /// Returns the object of a service, which is the same however the service was found.
    private func service(_ record: ServiceRecord, on link: LinkID) -> CBService {
        if let known = lookUp(record.id).1 as? CBService { return known }
        let new = CBService(record, on: link, of: self)
        remember([new])
        return new
    }

    private func remember(_ attributes: [CBAttribute]) {
        fields.withLock { fields in
            for attribute in attributes {
                if let id = attribute.reference?.id { fields.attributes[id] = attribute }
            }
        }
    }

    /// Restores the attributes that an earlier process knew (S142).
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
        fields.withLock { $0.services = objects }
    }

    func setAddress(_ address: String?) {
        guard let address else { return }
        fields.withLock { $0.address = address }
    }

    /// Removes services that the peripheral no longer has from the lists (S101, S102).
    ///
    /// - Returns: Their objects.
    func removeServices(_ ids: [AttributeID]) -> [CBService] {
        let gone = ids.compactMap { lookUp($0).1 as? CBService }
        let identities = Set(gone.map { ObjectIdentifier($0) })
        let rest = fields.withLock { fields in
            fields.services?.removeAll { identities.contains(ObjectIdentifier($0)) }
            return fields.services
        }
        rest?.forEach { $0.removeIncluded(identities) }
        return gone
    }

    /// Invalidates everything that was discovered on a link that is over (S47).
    func invalidateAttributes() {
        // The objects end with `old`, outside the lock.
        let old = fields.withLock { fields in
            defer {
                fields.services = nil
                fields.attributes = [:]
            }
            return (fields.services, fields.attributes)
        }
        _ = old
    }
}
