import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The lookup of attributes by path and by position.
extension AttributeDatabase {
    /// The service with a path; nil if no service matches.
    func service(_ path: ServicePath) -> AttributeID? {
        services.filter { self[$0]?.uuid == path.uuid }.dropFirst(path.index).first
    }

    /// The path of a service; nil for another attribute.
    func path(ofService id: AttributeID) -> ServicePath? {
        guard let uuid = self[id]?.uuid else { return nil }
        return services.filter { self[$0]?.uuid == uuid }.firstIndex(of: id).map { ServicePath(uuid, index: $0) }
    }

    /// The characteristic with a path; nil if no characteristic matches.
    func characteristic(_ path: CharacteristicPath) -> AttributeID? {
        var toPass = path.index
        for service in services where path.service == nil || self[service]?.uuid == path.service {
            for child in self[service]?.children ?? [] where self[child]?.uuid == path.uuid {
                if toPass == 0 { return child }
                toPass -= 1
            }
        }
        return nil
    }

    /// The first descriptor of a type in a characteristic, other than its client configuration; nil if there is none.
    func descriptor(_ uuid: BluetoothUUID, of path: CharacteristicPath) -> AttributeID? {
        characteristic(path).flatMap { descriptors(of: $0).first { self[$0]?.uuid == uuid } }
    }

    /// The descriptors of a characteristic other than its client configuration.
    fileprivate func descriptors(of characteristic: AttributeID) -> [AttributeID] {
        (self[characteristic]?.children ?? []).filter { self[$0]?.role == .descriptor }
    }
}

extension GATTServer {
    /// The position of an attribute; nil for a removed one, a client configuration, and the services that every device
    /// has.
    func position(of id: AttributeID) -> AttributePosition? {
        guard let attribute = database[id] else { return nil }
        switch attribute.role {
        case .service:
            let number = database.addedServices.firstIndex(of: id).map { $0 - genericServices.count }
            return number.flatMap { $0 < 0 ? nil : AttributePosition(service: $0) }
        case .characteristic:
            guard let service = attribute.parent, var position = position(of: service) else { return nil }
            position.characteristic = database[service]?.children.firstIndex(of: id)
            return position
        case .descriptor:
            guard let parent = attribute.parent, var position = position(of: parent) else { return nil }
            position.descriptor = database.descriptors(of: parent).firstIndex(of: id)
            return position
        case .clientConfiguration: return nil
        }
    }

    /// The attribute at a position; nil if the position is empty.
    func attribute(at position: AttributePosition) -> AttributeID? {
        guard position.service >= 0,
            let service = database.addedServices.dropFirst(genericServices.count).dropFirst(position.service).first,
            database[service] != nil
        else { return nil }
        guard let index = position.characteristic else { return position.descriptor == nil ? service : nil }
        guard let characteristic = element(index, of: database[service]?.children ?? []) else { return nil }
        guard let index = position.descriptor else { return characteristic }
        return element(index, of: database.descriptors(of: characteristic))
    }

    private func element(_ index: Int, of list: [AttributeID]) -> AttributeID? {
        list.indices.contains(index) ? list[index] : nil
    }

    /// The characteristic or descriptor that a control names; nil if it does not exist.
    func attribute(_ target: AttributeTarget) -> AttributeID? {
        switch target {
        case .path(let path): return database.characteristic(path)
        case .descriptor(let uuid, let path): return database.descriptor(uuid, of: path)
        case .position(let position): return position.characteristic == nil ? nil : attribute(at: position)
        }
    }
}
