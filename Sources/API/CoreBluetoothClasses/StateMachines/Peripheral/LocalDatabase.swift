import BluetoothBackend

/// The services that a peripheral manager has published, or is publishing, with identifiers that it assigns.
struct LocalDatabase: Sendable {
    struct Service: Sendable {
        let definition: ServiceDefinition
        let key: ObjectKey
        let operation: OperationID

        var characteristics: [AttributeID] { definition.characteristics.map(\.id) }
    }

    private var services: [AttributeID: Service] = [:]
    private var characteristics: [AttributeID: ServiceDefinition.Characteristic] = [:]
    private var ids: [ObjectKey: AttributeID] = [:]
    private var lastID = AttributeID(rawValue: 0)

    /// The identifiers of the services, in the order of their creation.
    var serviceIDs: [AttributeID] { services.keys.sorted() }

    func service(_ id: AttributeID) -> Service? { services[id] }

    func characteristic(_ id: AttributeID) -> ServiceDefinition.Characteristic? { characteristics[id] }

    /// Returns the identifier of an object, if it is published.
    subscript(key: ObjectKey) -> AttributeID? { ids[key] }

    /// Returns the service that a call published, if it is still there.
    func service(addedBy operation: OperationID) -> AttributeID? {
        services.first { $0.value.operation == operation }?.key
    }

    func includer(of id: AttributeID) -> Service? {
        serviceIDs.lazy.compactMap { services[$0] }.first { $0.definition.included.contains(id) }
    }

    /// Returns the reason that a service cannot be published beside the present ones (S110, S112).
    func refusal(of service: LocalService) -> ServiceRefusal? {
        if ids[service.key] != nil { return ServiceRefusal(.invalidParameters, "it is published already") }
        if let known = service.characteristics.first(where: { ids[$0.key] != nil }) {
            return ServiceRefusal(.invalidParameters, "\(known.uuid) belongs to a published service")
        }
        guard service.included.allSatisfy({ ids[$0].map { services[$0] != nil } ?? false }) else {
            return ServiceRefusal(.invalidParameters, "it includes a service that is not published")
        }
        return nil
    }

    /// Inserts a service that is not refused.
    mutating func insert(_ service: LocalService, addedBy operation: OperationID) -> ServiceDefinition {
        let definition = service.definition(included: service.included.compactMap { ids[$0] }) {
            lastID = lastID.next
            return lastID
        }
        add(definition, as: service.key, service.characteristics.map(\.key), addedBy: operation)
        return definition
    }

    /// Inserts a service that is published already, with its identifiers.
    mutating func restore(
        _ definition: ServiceDefinition, as key: ObjectKey, _ characteristicKeys: [ObjectKey]
    ) {
        add(definition, as: key, characteristicKeys, addedBy: OperationID(rawValue: 0))
        let parts = definition.characteristics.flatMap { [$0.id] + $0.descriptors.map(\.id) }
        lastID = parts.reduce(max(lastID, definition.id), max)
    }

    private mutating func add(
        _ definition: ServiceDefinition, as key: ObjectKey, _ characteristicKeys: [ObjectKey],
        addedBy operation: OperationID
    ) {
        services[definition.id] = Service(definition: definition, key: key, operation: operation)
        ids[key] = definition.id
        for (published, key) in zip(definition.characteristics, characteristicKeys) {
            characteristics[published.id] = published
            ids[key] = published.id
        }
    }

    /// Removes a service.
    ///
    /// - Returns: The service.
    @discardableResult
    mutating func remove(_ id: AttributeID) -> Service? {
        guard let service = services.removeValue(forKey: id) else { return nil }
        let gone = Set(service.characteristics + [id])
        for id in service.characteristics { characteristics[id] = nil }
        ids = ids.filter { !gone.contains($0.value) }
        return service
    }
}
