import BluetoothBackend
import BluetoothSupport

// The services of peripheral managers.
extension AttributeDatabase {
    /// Publishes a service at the end of the handle space.
    ///
    /// - Parameters:
    ///   - service: The service, with the manager's own numbers.
    ///   - manager: The manager that publishes the service.
    ///   - published: The attribute numbers of this database by the manager's numbers; extended by this call.
    /// - Throws: `invalidParameters` if a number is taken or an included service does not exist, `outOfSpace` if the
    ///   handles run out.
    mutating func publish(
        _ service: ServiceDefinition, by manager: Ref<Manager>, _ published: inout [AttributeID: AttributeID]
    ) throws(BackendError) -> AttributeID {
        let numbers = service.attributeIDs
        guard Set(numbers).count == numbers.count, !numbers.contains(where: { published[$0] != nil }) else {
            throw BackendError(.invalidParameters, operation: "publish", message: "an identifier is taken")
        }
        var included: [AttributeID] = []
        for local in service.included {
            guard let id = published[local] else {
                throw BackendError(
                    .invalidParameters, operation: "publish", message: "an included service is not published")
            }
            included.append(id)
        }
        guard Int(lastHandle) + service.handleCount <= Int(UInt16.max) else {
            throw BackendError(.outOfSpace, operation: "publish", message: "the handles are used up")
        }
        let id = open(service.uuid, isPrimary: service.isPrimary, including: included)
        own(id, service.id, manager, isDynamic: false, &published)
        for characteristic in service.characteristics { publish(characteristic, in: id, by: manager, &published) }
        close(id)
        return id
    }

    private mutating func publish(
        _ characteristic: ServiceDefinition.Characteristic, in service: AttributeID, by manager: Ref<Manager>,
        _ published: inout [AttributeID: AttributeID]
    ) {
        let id = appendCharacteristic(
            characteristic.uuid, to: service, properties: characteristic.properties,
            permissions: characteristic.permissions, value: characteristic.staticValue ?? Data(),
            hasClientConfiguration: characteristic.hasClientConfiguration)
        own(id, characteristic.id, manager, isDynamic: characteristic.staticValue == nil, &published)
        for descriptor in characteristic.descriptors {
            let added = appendDescriptor(
                descriptor.uuid, to: id, permissions: descriptor.permissions ?? .readable, value: descriptor.value)
            own(added, descriptor.id, manager, isDynamic: descriptor.permissions != nil, &published)
        }
    }

    private mutating func own(
        _ id: AttributeID, _ local: AttributeID, _ manager: Ref<Manager>, isDynamic: Bool,
        _ published: inout [AttributeID: AttributeID]
    ) {
        self[id]?.owner = Attribute.Owner(manager: manager, local: local, isDynamic: isDynamic)
        published[local] = id
    }

    /// The services that managers published: all, or those of one manager.
    func publishedServices(by manager: Ref<Manager>? = nil) -> [AttributeID] {
        services.filter { id in
            guard let owner = self[id]?.owner else { return false }
            return manager == nil || owner.manager == manager
        }
    }
}

extension ServiceDefinition {
    fileprivate var attributeIDs: [AttributeID] {
        [id] + characteristics.flatMap { [$0.id] + $0.descriptors.map(\.id) }
    }

    fileprivate var handleCount: Int {
        1 + included.count
            + characteristics.reduce(0) { $0 + 2 + ($1.hasClientConfiguration ? 1 : 0) + $1.descriptors.count }
    }
}

extension ServiceDefinition.Characteristic {
    fileprivate var hasClientConfiguration: Bool {
        !properties.isDisjoint(with: [
            .notify, .indicate, .notifyEncryptionRequired, .indicateEncryptionRequired,
        ])
    }
}
