import CoreBluetooth

/// The services that a server has published.
extension ServerState {
    /// Names a new service; one of a UUID that is there already gets the next number.
    mutating func register(_ service: ServedService, _ object: CBMutableService) -> ServiceID {
        var number = 1
        while services[ServiceID(service.uuid, number: number)] != nil { number += 1 }
        let id = ServiceID(service.uuid, number: number)
        services[id] = object
        var counts: [CBUUID: Int] = [:]
        for (served, object) in zip(service.characteristics, object.characteristics ?? []) {
            guard let object = object as? CBMutableCharacteristic else { continue }
            counts[served.uuid, default: 0] += 1
            let path = CharacteristicID(served.uuid, number: counts[served.uuid, default: 1], in: id)
            attributes[ObjectIdentifier(object)] = Attribute(id: path, served: served, object: object)
            objects[path] = object
        }
        return id
    }

    /// Names a new service, and publishes it.
    mutating func add(_ service: ServedService, _ object: CBMutableService, _ waiter: Waiter<Void>) -> ServiceID {
        additions[ObjectIdentifier(object)] = waiter
        order(.add(object))
        return register(service, object)
    }

    /// Withdraws a service; those who wait to notify of it fail.
    mutating func remove(_ id: ServiceID) {
        guard let object = services.removeValue(forKey: id) else { return }
        additions[ObjectIdentifier(object)] = nil
        for characteristic in object.characteristics ?? [] {
            guard let attribute = attributes.removeValue(forKey: ObjectIdentifier(characteristic)) else { continue }
            objects[attribute.id] = nil
        }
        for update in updates where update.characteristic.service == id {
            complete(update.waiter, .failure(Failure(.cancelled)))
        }
        updates.removeAll { $0.characteristic.service == id }
        order(.remove(object))
    }

    /// What is restored comes before the first state or never.
    ///
    /// - Returns: Who is to be told, once.
    mutating func endRestoration() -> (@Sendable (RestoredServer) -> Void)? {
        defer {
            restorable = []
            onRestore = nil
        }
        return onRestore
    }

    /// Takes over a service that an earlier process left.
    ///
    /// - Returns: Its name, and whether there are handlers for it: those of the first description that is alike.
    mutating func restore(_ object: CBMutableService) -> (ServiceID, isAnswered: Bool) {
        let uuids = object.characteristics?.map(\.uuid) ?? []
        let index = restorable.firstIndex { $0.uuid == object.uuid && $0.characteristics.map(\.uuid) == uuids }
        let served =
            index.map { restorable.remove(at: $0) }
            ?? ServedService(
                object.uuid, isPrimary: object.isPrimary,
                characteristics: (object.characteristics ?? []).map { ServedCharacteristic($0.uuid, $0.properties) })
        return (register(served, object), index != nil)
    }
}
