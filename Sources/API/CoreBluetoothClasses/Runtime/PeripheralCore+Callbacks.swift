import BluetoothBackend
import BluetoothValues
import Foundation

/// The conversion of callbacks from values to delegate methods; properties change just before (S162).
extension PeripheralCore {
    /// Calls the delegate, on the manager's queue.
    ///
    /// The delegate is looked up now (S160).
    func deliver(_ callback: PeripheralCallback) {
        guard let manager else { return }
        switch callback {
        case .willRestore(let restored): willRestore(restored, by: manager)
        case .stateUpdated: delegate?.peripheralManagerDidUpdateState(manager)
        case .advertisingStarted(let error):
            delegate?.peripheralManagerDidStartAdvertising(manager, error: error?.appError)
        case .added(let operation, let error):
            guard let service = takeAddition(operation) else { return }
            delegate?.peripheralManager(manager, didAdd: service, error: error?.appError)
        case .readyToUpdate: delegate?.peripheralManagerIsReady(toUpdateSubscribers: manager)
        case .readReceived, .writeReceived: deliverRequest(callback, by: manager)
        case .subscribed(let id, let attribute, let mtu):
            guard let characteristic = characteristic(attribute) else { return }
            let central = central(id, mtu: mtu)
            characteristic.addSubscriber(central)
            delegate?.peripheralManager(manager, central: central, didSubscribeTo: characteristic)
        case .unsubscribed(let id, let attribute):
            guard let characteristic = characteristic(attribute),
                let central = characteristic.removeSubscriber(id.uuid)
            else { return }
            delegate?.peripheralManager(manager, central: central, didUnsubscribeFrom: characteristic)
        case .channelPublished(let psm, let error):
            delegate?.peripheralManager(manager, didPublishL2CAPChannel: psm, error: error?.appError)
        case .channelUnpublished(let psm, let error):
            delegate?.peripheralManager(manager, didUnpublishL2CAPChannel: psm, error: error?.appError)
        case .channelOpened(let id, let psm, let central):
            guard let channel = CBL2CAPChannel(id, in: channels, peer: self.central(central), psm: psm) else { return }
            delegate?.peripheralManager(manager, didOpen: channel, error: nil)
        }
    }

    private func deliverRequest(_ callback: PeripheralCallback, by manager: CBPeripheralManager) {
        switch callback {
        case .readReceived(let id, let central, let attribute, let offset, let mtu):
            guard let delegate, let characteristic = characteristic(attribute) else { return refuse(id) }
            delegate.peripheralManager(
                manager,
                didReceiveRead: CBATTRequest(
                    central: self.central(central, mtu: mtu), characteristic: characteristic, offset: offset,
                    value: nil, reference: RequestReference(core: self, request: id, part: 0)))
        case .writeReceived(let id, let central, let parts, let mtu):
            let requests = parts.enumerated().compactMap { index, part in
                characteristic(part.attribute).map { characteristic in
                    CBATTRequest(
                        central: self.central(central, mtu: mtu), characteristic: characteristic,
                        offset: part.offset, value: part.value,
                        reference: RequestReference(core: self, request: id, part: index))
                }
            }
            guard let delegate, requests.count == parts.count else { return refuse(id) }
            delegate.peripheralManager(manager, didReceiveWrite: requests)
        default: break
        }
    }

    private func refuse(_ request: RequestID) {
        transition { $0.nobodyAnswers(request) }
    }
}

/// State restoration, on the manager's queue.
extension PeripheralCore {
    /// Creates the objects of the services that an earlier process published.
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
                state.objects.keep(service, characteristics, as: definition, by: self)
            }
            return state.machine.restore(
                restored, as: objects.map { (ObjectKey($0), $1.map { ObjectKey($0) }) })
        }
    }

    /// Calls the delegate with the restored state (S141, S143).
    func willRestore(_ restored: RestoredPeripheralState, by manager: CBPeripheralManager) {
        for subscription in restored.subscriptions {
            characteristic(subscription.attribute)?
                .addSubscriber(central(subscription.central, mtu: max(subscription.mtu, ATTLimits.minimumMTU)))
        }
        var dictionary: [String: Any] = [:]
        let services = restored.services.compactMap { service($0.id) }
        if !services.isEmpty { dictionary[CBPeripheralManagerRestoredStateServicesKey] = services }
        dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] = restored.advertisement?.givenData
        delegate?.peripheralManager(manager, willRestoreState: dictionary)
    }
}

extension Advertisement {
    /// The dictionary that an app gave for it.
    fileprivate var givenData: [String: Any] {
        var data: [String: Any] = [:]
        data[CBAdvertisementDataLocalNameKey] = localName
        let uuids = (serviceUUIDs ?? []) + (overflowServiceUUIDs ?? [])
        if !uuids.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = uuids.map(CBUUID.init) }
        return data
    }
}

extension CBMutableService {
    /// Creates a service as it was published.
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
    /// Creates a descriptor: a user description is text, a presentation format is bytes (S115).
    fileprivate convenience init(_ definition: ServiceDefinition.Descriptor) {
        let isText = definition.uuid.bits16 == 0x2901
        self.init(
            type: CBUUID(definition.uuid),
            value: isText ? String(decoding: definition.value, as: UTF8.self) : definition.value)
    }
}
