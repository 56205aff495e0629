import CoreBluetooth

/// What a server has published, and who waits for what.
struct ServerState {
    struct Attribute {
        let id: CharacteristicID
        let served: ServedCharacteristic
        let object: CBMutableCharacteristic
    }

    struct Update {
        let characteristic: CharacteristicID
        let value: Data
        let centrals: Set<UUID>?
        let waiter: Waiter<Void>
    }

    var managerState = CBManagerState.unknown
    var ready: [Waiter<Void>] = []
    var services: [ServiceID: CBMutableService] = [:]
    var attributes: [ObjectIdentifier: Attribute] = [:]
    var objects: [CharacteristicID: CBMutableCharacteristic] = [:]
    var additions: [ObjectIdentifier: Waiter<Void>] = [:]
    var advertising: Waiter<Void>?
    var publishing: [Waiter<CBL2CAPPSM>] = []
    var updates: [Update] = []
    var subscriptionFeeds: [Int: Feed<SubscriptionEvent>] = [:]
    var channelFeeds: [Int: Feed<ByteChannel>] = [:]
    var handlers: [Int: Task<Void, Never>?] = [:]
    var lastNumber = 0
    /// What answers for services that an earlier process left.
    var restorable: [ServedService] = []
    var onRestore: (@Sendable (RestoredServer) -> Void)?
    var isPumping = false
    var mustPumpAgain = false

    mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

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

    /// Forgets a service.
    ///
    /// - Returns: Its object, and those who wait to notify of it.
    mutating func unregister(_ id: ServiceID) -> (CBMutableService, [Waiter<Void>])? {
        guard let object = services.removeValue(forKey: id) else { return nil }
        for characteristic in object.characteristics ?? [] {
            guard let attribute = attributes.removeValue(forKey: ObjectIdentifier(characteristic)) else { continue }
            objects[attribute.id] = nil
        }
        let gone = updates.filter { $0.characteristic.service == id }.map(\.waiter)
        updates.removeAll { $0.characteristic.service == id }
        return (object, gone)
    }

    /// Takes all who wait for an answer of the adapter.
    mutating func takeWaiters() -> [Waiter<Void>] {
        defer {
            additions = [:]
            advertising = nil
            updates = []
        }
        return additions.values + [advertising].compactMap { $0 } + updates.map(\.waiter)
    }
}
