import BluetoothSupport
import CoreBluetooth

/// The state of a server: publications, pending calls and waiting tasks.
///
/// A change is made under the lock, and its consequences in `calls` follow outside.
struct ServerState: CoordinatorState {
    struct Attribute {
        let id: CharacteristicID
        let served: ServedCharacteristic
    }

    struct Update {
        let characteristic: CharacteristicID
        let value: Data
        let centrals: Set<UUID>?
        let waiter: Waiter<Void>
    }

    /// A channel to publish; CoreBluetooth receives one at a time, since its callback does not identify the call.
    struct Publication {
        let isEncryptionRequired: Bool
        let waiter: Waiter<CBL2CAPPSM>
    }

    enum Call {
        case add(CBMutableService)
        case remove(CBMutableService)
        case startAdvertising(AdvertisedData)
        case stopAdvertising
        case publish(isEncryptionRequired: Bool)
        case unpublish(CBL2CAPPSM)

        /// Whether the call withdraws something; such a call waits while the adapter is off.
        var isWithdrawal: Bool {
            switch self {
            case .remove, .stopAdvertising, .unpublish: true
            case .add, .startAdvertising, .publish: false
            }
        }
    }

    var adapter = AdapterStatus()
    var published = Published()
    var advertising = Advertising()
    var channels = Channels()
    var updates = Updates()
    var handlers = Handlers()
    var subscriptions = Subscriptions()
    var restoration: Restoration
    var calls = CallQueue<Call>()
    private var lastNumber = 0

    init(restorable: [ServedService], onRestore: (@Sendable (RestoredServer) -> Void)?) {
        restoration = Restoration(services: restorable, onRestore: onRestore)
    }

    mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Consequences

    var allowsCalls: Bool { adapter.state == .poweredOn }

    // MARK: The adapter

    mutating func changeState(to new: CBManagerState) {
        adapter.state = new
        calls.complete(&adapter.waiters, .success(()))
        guard new != .poweredOn else { return }
        removeAllSubscribers()
        failCalls(.unavailable(new))
        // A started advertisement resumes by itself when the adapter is powered on again (S104).
        if let last = advertising.current, advertising.calls.contains(where: { $0 === last }) {
            advertising.current = nil
        }
        published.additions = [:]
        advertising.calls = []
        updates.queue = []
        channels.publications = []
        channels.isPublishing = false
        calls.removeAll { !$0.isWithdrawal }
        guard new != .poweredOff else { return }
        // Every other state withdraws the publications.
        calls.removeAll()
        calls.release(published)
        published.services = [:]
        published.attributes = [:]
        published.objects = [:]
        restoration.published = []
        advertising.current = nil
    }

    /// Ends everything when the server is released.
    ///
    /// - Returns: The running handlers, to cancel.
    mutating func abandon() -> [Task<Void, Never>] {
        removeAllSubscribers()
        failCalls(.cancelled)
        calls.complete(&adapter.waiters, .failure(OperationFailure(.cancelled)))
        return handlers.tasks.values.compactMap { $0 }
    }

    private mutating func failCalls(_ reason: BluetoothError.Reason) {
        let failure = OperationFailure(reason)
        let waiters = [Waiter<Void>](published.additions.values) + advertising.calls + updates.queue.map(\.waiter)
        for waiter in waiters { complete(waiter, .failure(failure)) }
        for publication in channels.publications { complete(publication.waiter, .failure(failure)) }
    }

    // MARK: Advertising

    mutating func startAdvertising(_ data: AdvertisedData, _ waiter: Waiter<Void>) {
        for earlier in advertising.calls { complete(earlier, .failure(OperationFailure(.cancelled))) }
        advertising.current = waiter
        advertising.calls.append(waiter)
        order(.stopAdvertising)
        order(.startAdvertising(data))
    }

    /// - Parameter waiter: The call whose advertisement is meant, unless another one has replaced it; nil for any.
    mutating func stopAdvertising(of waiter: Waiter<Void>? = nil) {
        guard waiter == nil || waiter === advertising.current else { return }
        advertising.current = nil
        for call in advertising.calls { complete(call, .failure(OperationFailure(.cancelled))) }
        order(.stopAdvertising)
    }

    /// Completes the earliest pending call of `startAdvertising`.
    mutating func advertisingStarted(_ error: (any Error)?) {
        guard !advertising.calls.isEmpty else { return }
        let waiter = advertising.calls.removeFirst()
        if error != nil, advertising.current === waiter { advertising.current = nil }
        complete(waiter, error.map { .failure(OperationFailure(.refused($0))) } ?? .success(()))
    }

    // MARK: Channels

    mutating func publish(_ publication: Publication) {
        channels.publications.append(publication)
        publishNext()
    }

    /// Removes a publication whose caller was cancelled; a submitted one is withdrawn after its callback.
    mutating func withdraw(_ waiter: Waiter<CBL2CAPPSM>) {
        guard let index = channels.publications.firstIndex(where: { $0.waiter === waiter }) else { return }
        if index > 0 || !channels.isPublishing { channels.publications.remove(at: index) }
    }

    /// - Returns: The waiter of the channel; nil if a change of the adapter's state has ended the call.
    mutating func takePublication() -> Waiter<CBL2CAPPSM>? {
        guard channels.isPublishing else { return nil }
        channels.isPublishing = false
        let waiter = channels.publications.removeFirst().waiter
        publishNext()
        return waiter
    }

    private mutating func publishNext() {
        guard !channels.isPublishing, let first = channels.publications.first else { return }
        channels.isPublishing = true
        order(.publish(isEncryptionRequired: first.isEncryptionRequired))
    }
}

/// The services that a server has published.
extension ServerState {
    /// Registers a new service; another one of the same UUID is the next instance.
    mutating func register(_ service: ServedService, _ object: CBMutableService) -> ServiceID {
        var number = 1
        while published.services[ServiceID(service.uuid, instance: number)] != nil { number += 1 }
        let id = ServiceID(service.uuid, instance: number)
        published.services[id] = object
        let objects = object.characteristics ?? []
        let components = AttributePathComponent.numbered(service.characteristics.map(\.uuid))
        for (served, (component, object)) in zip(service.characteristics, zip(components, objects)) {
            guard let object = object as? CBMutableCharacteristic else { continue }
            let path = CharacteristicID(component.uuid, instance: component.instance, in: id)
            published.attributes[ObjectIdentifier(object)] = Attribute(id: path, served: served)
            published.objects[path] = object
        }
        return id
    }

    mutating func add(_ service: ServedService, _ object: CBMutableService, _ waiter: Waiter<Void>) -> ServiceID {
        let included = service.includes.compactMap { published.services[$0] }
        if !included.isEmpty { object.includedServices = included }
        published.additions[ObjectIdentifier(object)] = waiter
        order(.add(object))
        return register(service, object)
    }

    /// Withdraws a service; waiting notifications of it fail.
    mutating func remove(_ id: ServiceID) {
        guard let object = published.services.removeValue(forKey: id) else { return }
        published.additions[ObjectIdentifier(object)] = nil
        restoration.published.removeAll { $0 == id }
        for characteristic in object.characteristics ?? [] {
            guard let attribute = published.attributes.removeValue(forKey: ObjectIdentifier(characteristic)) else {
                continue
            }
            calls.release(attribute)
            published.objects[attribute.id] = nil
            removeSubscribers(of: attribute.id)
        }
        for update in updates.queue where update.characteristic.service == id {
            complete(update.waiter, .failure(OperationFailure(.cancelled)))
        }
        updates.queue.removeAll { $0.characteristic.service == id }
        order(.remove(object))
    }

    /// Ends the time in which state can be restored.
    ///
    /// - Returns: The app's handler, for one call.
    mutating func endRestoration() -> (@Sendable (RestoredServer) -> Void)? {
        defer {
            calls.release(restoration)
            restoration.services = []
            restoration.onRestore = nil
        }
        return restoration.onRestore
    }

    /// Takes over a service of an earlier process.
    ///
    /// - Returns: Its path, and whether there are handlers for it: those of the first matching description.
    mutating func restore(_ object: CBMutableService) -> (ServiceID, isAnswered: Bool) {
        let uuids = object.characteristics?.map(\.uuid) ?? []
        let index = restoration.services.firstIndex {
            $0.uuid == object.uuid && $0.characteristics.map(\.uuid) == uuids
        }
        let served =
            index.map { restoration.services.remove(at: $0) }
            ?? ServedService(
                object.uuid, isPrimary: object.isPrimary,
                characteristics: (object.characteristics ?? []).map { ServedCharacteristic($0.uuid, $0.properties) })
        let id = register(served, object)
        restoration.published.append(id)
        for case let characteristic as CBMutableCharacteristic in object.characteristics ?? [] {
            guard let path = published.attributes[ObjectIdentifier(characteristic)]?.id else { continue }
            for central in characteristic.subscribedCentrals ?? [] {
                restoration.subscribers.append((central.identifier, path))
            }
        }
        return (id, index != nil)
    }

    /// Adopts a restored service for one with the same characteristics, whose handlers answer from now on.
    ///
    /// - Returns: The path of the service, and those of its characteristics; nil without such a service.
    mutating func takeRestored(_ service: ServedService) -> (ServiceID, [CharacteristicID])? {
        let uuids = service.characteristics.map(\.uuid)
        let index = restoration.published.firstIndex { id in
            guard let object = published.services[id] else { return false }
            return object.uuid == service.uuid && (object.characteristics ?? []).map(\.uuid) == uuids
        }
        guard let index else { return nil }
        let id = restoration.published.remove(at: index)
        var characteristics: [CharacteristicID] = []
        for (object, served) in zip(published.services[id]?.characteristics ?? [], service.characteristics) {
            guard let old = published.attributes[ObjectIdentifier(object)] else { continue }
            calls.release(old)
            published.attributes[ObjectIdentifier(object)] = Attribute(id: old.id, served: served)
            characteristics.append(old.id)
        }
        return (id, characteristics)
    }

    mutating func withdrawAll() {
        if advertising.current != nil || !advertising.calls.isEmpty { stopAdvertising() }
        for id in Array(published.services.keys) { remove(id) }
    }
}
