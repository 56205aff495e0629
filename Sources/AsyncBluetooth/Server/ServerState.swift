import CoreBluetooth

/// What a server has published, and who waits for what.
///
/// A change is made under the lock; what it leads to is done outside: calls of CoreBluetooth in `outbox`, in order, and
/// waiting tasks in `completions`.
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

    /// A channel that is to be published; one at a time is with CoreBluetooth, since its callback does not name the call.
    struct Publication {
        let isEncryptionRequired: Bool
        let waiter: Waiter<CBL2CAPPSM>
    }

    /// A call to make.
    enum Call {
        case add(CBMutableService)
        case remove(CBMutableService)
        case startAdvertising([String: Any])
        case stopAdvertising
        case publish(isEncryptionRequired: Bool)
        case unpublish(CBL2CAPPSM)

        /// Whether the call withdraws something: such a call waits while the adapter is off.
        var isWithdrawal: Bool {
            switch self {
            case .remove, .stopAdvertising, .unpublish: true
            case .add, .startAdvertising, .publish: false
            }
        }
    }

    var managerState = CBManagerState.unknown
    var ready: [Waiter<Void>] = []
    var services: [ServiceID: CBMutableService] = [:]
    var attributes: [ObjectIdentifier: Attribute] = [:]
    var objects: [CharacteristicID: CBMutableCharacteristic] = [:]
    var additions: [ObjectIdentifier: Waiter<Void>] = [:]
    /// The advertisement that is on the air, or on its way there, by who asked for it.
    var advertisement: Waiter<Void>?
    /// Calls of `startAdvertising` whose callbacks are still to come, in order.
    var advertisingCalls: [Waiter<Void>] = []
    var publications: [Publication] = []
    var isPublishing = false
    var updates: [Update] = []
    var stateBuffers: [Int: ElementBuffer<CBManagerState>] = [:]
    var subscriptionBuffers: [Int: ElementBuffer<SubscriptionEvent>] = [:]
    var channelBuffers: [Int: ElementBuffer<ByteChannel>] = [:]
    var handlers: [Int: Task<Void, Never>?] = [:]
    var refusedCount = 0
    var refusedUpdateCount = 0
    /// The subscribers of each characteristic, and the task that runs while there are any.
    var subscribers: [CharacteristicID: Set<UUID>] = [:]
    var subscriptionTasks: [CharacteristicID: Task<Void, Never>] = [:]
    var lastNumber = 0
    /// What answers for services that an earlier process left.
    var restorable: [ServedService] = []
    var onRestore: (@Sendable (RestoredServer) -> Void)?
    var isPumping = false
    var mustPumpAgain = false

    private var outbox: [Call] = []
    private var isSubmitting = false
    var completions: [() -> Void] = []

    init(restorable: [ServedService], onRestore: (@Sendable (RestoredServer) -> Void)?) {
        self.restorable = restorable
        self.onRestore = onRestore
    }

    mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    // MARK: What changes lead to

    mutating func order(_ call: Call) { outbox.append(call) }

    mutating func complete<Value>(_ waiter: Waiter<Value>, _ result: Result<Value, any Error>) {
        completions.append { waiter.finish(result) }
    }

    mutating func takeCompletions() -> [() -> Void] {
        defer { completions = [] }
        return completions
    }

    mutating func beginSubmitting() -> Bool {
        guard !isSubmitting, !outbox.isEmpty, managerState == .poweredOn else { return false }
        isSubmitting = true
        return true
    }

    /// The next call; nil ends the submitting.
    mutating func nextCall() -> Call? {
        guard managerState == .poweredOn, !outbox.isEmpty else {
            isSubmitting = false
            return nil
        }
        return outbox.removeFirst()
    }

    // MARK: The adapter

    mutating func changeState(to new: CBManagerState) {
        managerState = new
        for waiter in ready { complete(waiter, .success(())) }
        ready = []
        guard new != .poweredOn else { return }
        removeAllSubscribers()
        let failure = OperationFailure(.unavailable(new))
        let waiters = [Waiter<Void>](additions.values) + advertisingCalls + updates.map(\.waiter)
        for waiter in waiters { complete(waiter, .failure(failure)) }
        for publication in publications { complete(publication.waiter, .failure(failure)) }
        // An advertisement that has begun goes on by itself when the adapter is switched on again (S104).
        if let last = advertisement, advertisingCalls.contains(where: { $0 === last }) { advertisement = nil }
        additions = [:]
        advertisingCalls = []
        updates = []
        publications = []
        isPublishing = false
        outbox.removeAll { !$0.isWithdrawal }
        guard new != .poweredOff else { return }
        // All but a switched off adapter withdraw what was published.
        outbox = []
        services = [:]
        attributes = [:]
        objects = [:]
        advertisement = nil
    }

    /// The server is gone.
    ///
    /// - Returns: The handlers that run.
    mutating func abandon() -> [Task<Void, Never>] {
        removeAllSubscribers()
        let failure = OperationFailure(.cancelled)
        let waiters = [Waiter<Void>](additions.values) + advertisingCalls + updates.map(\.waiter) + ready
        for waiter in waiters { complete(waiter, .failure(failure)) }
        for publication in publications { complete(publication.waiter, .failure(failure)) }
        for buffer in stateBuffers.values { completions.append { buffer.finish() } }
        for buffer in subscriptionBuffers.values { completions.append { buffer.finish() } }
        for buffer in channelBuffers.values { completions.append { buffer.finish() } }
        return handlers.values.compactMap { $0 }
    }

    // MARK: Advertising

    mutating func startAdvertising(_ data: [String: Any], _ waiter: Waiter<Void>) {
        for earlier in advertisingCalls { complete(earlier, .failure(OperationFailure(.cancelled))) }
        advertisement = waiter
        advertisingCalls.append(waiter)
        order(.stopAdvertising)
        order(.startAdvertising(data))
    }

    /// - Parameter waiter: Whose advertisement is meant, unless another one took its place; nil is any.
    mutating func stopAdvertising(of waiter: Waiter<Void>? = nil) {
        guard waiter == nil || waiter === advertisement else { return }
        advertisement = nil
        for call in advertisingCalls { complete(call, .failure(OperationFailure(.cancelled))) }
        order(.stopAdvertising)
    }

    /// The callback of the earliest call that awaits one.
    mutating func advertisingStarted(_ error: (any Error)?) {
        guard !advertisingCalls.isEmpty else { return }
        let waiter = advertisingCalls.removeFirst()
        if error != nil, advertisement === waiter { advertisement = nil }
        complete(waiter, error.map { .failure(OperationFailure(.refused($0))) } ?? .success(()))
    }

    // MARK: Channels

    mutating func publish(_ publication: Publication) {
        publications.append(publication)
        publishNext()
    }

    /// The caller does not wait any more; what is with CoreBluetooth already is withdrawn when its callback comes.
    mutating func withdraw(_ waiter: Waiter<CBL2CAPPSM>) {
        guard let index = publications.firstIndex(where: { $0.waiter === waiter }) else { return }
        if index > 0 || !isPublishing { publications.remove(at: index) }
    }

    /// - Returns: Who waits for the channel; nil if the callback is of a call that the adapter's state has ended.
    mutating func published() -> Waiter<CBL2CAPPSM>? {
        guard isPublishing else { return nil }
        isPublishing = false
        let waiter = publications.removeFirst().waiter
        publishNext()
        return waiter
    }

    private mutating func publishNext() {
        guard !isPublishing, let first = publications.first else { return }
        isPublishing = true
        order(.publish(isEncryptionRequired: first.isEncryptionRequired))
    }
}

/// The services that a server has published.
extension ServerState {
    /// Names a new service; one of a UUID that is there already gets the next number.
    mutating func register(_ service: ServedService, _ object: CBMutableService) -> ServiceID {
        var number = 1
        while services[ServiceID(service.uuid, instance: number)] != nil { number += 1 }
        let id = ServiceID(service.uuid, instance: number)
        services[id] = object
        let objects = service.characteristics.isEmpty ? [] : object.characteristics ?? []
        let components = AttributePathComponent.numbered(service.characteristics.map(\.uuid))
        for (served, (component, object)) in zip(service.characteristics, zip(components, objects)) {
            guard let object = object as? CBMutableCharacteristic else { continue }
            let path = CharacteristicID(component.uuid, instance: component.instance, in: id)
            attributes[ObjectIdentifier(object)] = Attribute(id: path, served: served, object: object)
            self.objects[path] = object
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
            removeSubscribers(of: attribute.id)
        }
        for update in updates where update.characteristic.service == id {
            complete(update.waiter, .failure(OperationFailure(.cancelled)))
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

    /// Stops advertising, and withdraws all services.
    mutating func withdrawAll() {
        if advertisement != nil || !advertisingCalls.isEmpty { stopAdvertising() }
        for id in Array(services.keys) { remove(id) }
    }
}
