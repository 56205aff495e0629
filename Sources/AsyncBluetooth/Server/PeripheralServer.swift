import BluetoothLocking
public import CoreBluetooth

/// Offers services to other devices, with handlers that are `async`.
///
/// A thin layer over a `CBPeripheralManager` of its own. Any thread and any actor may use it. Operations wait while
/// the adapter's state is `unknown` or `resetting`, and throw where it is `unsupported`, `unauthorized` or `poweredOff`.
/// All is withdrawn, and handlers are cancelled, when the last reference goes. Handlers run in tasks of their own,
/// several at a time.
public final class PeripheralServer: Sendable {
    private let core: ServerCore
    private let manager: Unchecked<CBPeripheralManager>
    /// Where callbacks come, and where handlers run unless another executor was given.
    public let executor: QueueExecutor

    #if canImport(Darwin)
    /// Makes a server.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for callbacks; nil makes one.
    ///   - restoreIdentifier: Under which the system restores what an earlier process left.
    ///   - services: What answers for restored services: the first one whose UUIDs are the same, in the same order.
    ///   - taskExecutor: Where handlers run; nil for the queue.
    ///   - onRestore: Is told what is restored, on the queue, before any other event.
    public init(
        queue: DispatchQueue? = nil, restoreIdentifier: String? = nil, restoring services: [ServedService] = [],
        taskExecutor: (any TaskExecutor)? = nil, onRestore: (@Sendable (RestoredServer) -> Void)? = nil
    ) {
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth server"))
        core = ServerCore(executor: taskExecutor ?? executor, restoring: services, onRestore: onRestore)
        manager = Unchecked(
            CBPeripheralManager(delegate: core, queue: executor.queue, options: Self.options(restoreIdentifier)))
    }
    #else
    /// Makes a server.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for callbacks; nil makes one.
    ///   - backend: The radio; nil for the one that is chosen for the task or the process.
    ///   - restoreIdentifier: Under which the system restores what an earlier process left.
    ///   - services: What answers for restored services: the first one whose UUIDs are the same, in the same order.
    ///   - taskExecutor: Where handlers run; nil for the queue.
    ///   - onRestore: Is told what is restored, on the queue, before any other event.
    public init(
        queue: DispatchQueue? = nil, backend: CBBackendSelection? = nil, restoreIdentifier: String? = nil,
        restoring services: [ServedService] = [], taskExecutor: (any TaskExecutor)? = nil,
        onRestore: (@Sendable (RestoredServer) -> Void)? = nil
    ) {
        executor = QueueExecutor(queue ?? DispatchQueue(label: "AsyncBluetooth server"))
        core = ServerCore(executor: taskExecutor ?? executor, restoring: services, onRestore: onRestore)
        let options = Self.options(restoreIdentifier)
        let manager =
            if let backend {
                CBPeripheralManager(backend: backend, delegate: core, queue: executor.queue, options: options)
            } else {
                CBPeripheralManager(delegate: core, queue: executor.queue, options: options)
            }
        self.manager = Unchecked(manager)
    }
    #endif

    private static func options(_ restoreIdentifier: String?) -> [String: Any]? {
        restoreIdentifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] }
    }

    deinit { core.abandon() }

    /// The adapter's state.
    public var state: CBManagerState { core.withState { $0.managerState } }

    /// Waits until the adapter can be used.
    public func waitUntilPoweredOn() async throws {
        try await BluetoothError.run(BluetoothError.Context(.publish)) { try await core.ready() }
    }

    // MARK: Services

    /// Publishes a service.
    ///
    /// - Returns: Its name; numbered, if there are others of its UUID.
    /// - Throws: ``BluetoothError`` with the system's reason, as for a service that the system keeps for itself.
    @discardableResult
    public func add(_ service: ServedService) async throws -> ServiceID {
        try await BluetoothError.run(BluetoothError.Context(.publish, path: service.uuid.uuidString)) {
            try check(service)
            try await core.ready()
            let object = Unchecked(service.object)
            let waiter = Waiter<Void>()
            let id = core.withState { state -> ServiceID in
                state.additions[ObjectIdentifier(object.value)] = waiter
                return state.register(service, object.value)
            }
            manager.value.add(object.value)
            do {
                try await waiter.value {
                    _ = core.withState { $0.additions.removeValue(forKey: ObjectIdentifier(object.value)) }
                }
            } catch {
                remove(id)
                throw error
            }
            return id
        }
    }

    /// CoreBluetooth traps for a value that is not read-only; here it is an error.
    private func check(_ service: ServedService) throws {
        for characteristic in service.characteristics {
            guard let value = characteristic.value else { continue }
            guard value.count <= 512 else { throw Failure(.valueTooLong(length: value.count, maximum: 512)) }
            let others = characteristic.properties.subtracting(.read)
            guard others.isEmpty, characteristic.permissions.isSubset(of: [.readable, .readEncryptionRequired]) else {
                throw Failure(.notSupported(others))
            }
        }
    }

    /// Withdraws a service; nothing happens where there is none.
    public func remove(_ service: ServiceID) {
        guard let (object, waiting) = core.withState({ $0.unregister(service) }) else { return }
        manager.value.remove(object)
        for waiter in waiting { waiter.finish(.failure(Failure(.cancelled))) }
    }

    // MARK: Advertising

    /// Advertises until ``stopAdvertising()``, in place of what is advertised already.
    ///
    /// - Parameters:
    ///   - name: The name to advertise; shortened where there is no room.
    ///   - services: The services to advertise.
    public func startAdvertising(name: String? = nil, services: [CBUUID] = []) async throws {
        try await BluetoothError.run(BluetoothError.Context(.advertise)) {
            try await core.ready()
            let waiter = Waiter<Void>()
            let earlier = core.withState { state in
                defer { state.advertising = waiter }
                return state.advertising
            }
            earlier?.finish(.failure(Failure(.cancelled)))
            var data: [String: Any] = [CBAdvertisementDataServiceUUIDsKey: services]
            if let name { data[CBAdvertisementDataLocalNameKey] = name }
            manager.value.stopAdvertising()
            manager.value.startAdvertising(data)
            try await waiter.value {
                core.withState { if $0.advertising === waiter { $0.advertising = nil } }
                manager.value.stopAdvertising()
            }
        }
    }

    /// Stops advertising; nothing happens where it does not.
    public func stopAdvertising() { if state == .poweredOn { manager.value.stopAdvertising() } }

    /// Whether it advertises.
    public var isAdvertising: Bool { manager.value.isAdvertising }

    // MARK: Subscribers

    /// The devices that subscribe to a characteristic now.
    public func subscribers(of characteristic: CharacteristicID) -> [RemoteCentral] {
        core.withState { $0.objects[characteristic] }?.subscribedCentrals?.map { RemoteCentral($0) } ?? []
    }

    /// Sends a notification, or indication; waits until there is room for it, not until it arrived.
    ///
    /// - Parameters:
    ///   - value: At most what one packet to each of them carries, ``RemoteCentral/maximumUpdateLength``; more throws
    ///     ``BluetoothError/Reason/valueTooLong(length:maximum:)``.
    ///   - characteristic: Of a published service.
    ///   - centrals: Who is meant, of those that subscribe; nil is every subscriber. It may be nobody.
    public func notify(
        _ value: Data, of characteristic: CharacteristicID, to centrals: [RemoteCentral]? = nil
    ) async throws {
        try await BluetoothError.run(BluetoothError.Context(.notify, path: characteristic.description)) {
            try await core.ready()
            guard core.withState({ $0.objects[characteristic] != nil }) else {
                throw Failure(.missingCharacteristics([characteristic.uuid]))
            }
            let wanted = centrals.map { Set($0.map(\.identifier)) }
            let targets = subscribers(of: characteristic).filter { wanted?.contains($0.identifier) ?? true }
            let maximum = targets.map(\.maximumUpdateLength).min() ?? 512
            guard value.count <= maximum else { throw Failure(.valueTooLong(length: value.count, maximum: maximum)) }
            let waiter = Waiter<Void>()
            core.enqueue(
                ServerState.Update(characteristic: characteristic, value: value, centrals: wanted, waiter: waiter),
                on: manager.value)
            try await waiter.value { core.withState { $0.updates.removeAll { $0.waiter === waiter } } }
        }
    }

    /// Who subscribes and who does not any more, from now on.
    public var subscriptions: EventSequence<SubscriptionEvent> {
        let core = core
        return EventSequence {
            let feed = Feed<SubscriptionEvent>()
            let number = core.withState { state -> Int in
                let number = state.newNumber()
                state.subscriptionFeeds[number] = feed
                return number
            }
            return FeedReader(feed, lifetime: Lifetime { core.withState { $0.subscriptionFeeds[number] = nil } })
        }
    }

    // MARK: Channels

    /// Listens for L2CAP channels, which come in ``channels``.
    ///
    /// - Parameter isEncryptionRequired: Whether others have to encrypt the link first.
    /// - Returns: The number that the system chose.
    public func publishChannel(isEncryptionRequired: Bool = false) async throws -> CBL2CAPPSM {
        try await BluetoothError.run(BluetoothError.Context(.publish)) {
            try await core.ready()
            let waiter = Waiter<CBL2CAPPSM>()
            core.withState { $0.publishing.append(waiter) }
            manager.value.publishL2CAPChannel(withEncryption: isEncryptionRequired)
            return try await waiter.value {}
        }
    }

    /// Stops to listen.
    public func unpublishChannel(_ psm: CBL2CAPPSM) { manager.value.unpublishL2CAPChannel(psm) }

    /// The channels that others open, from now on.
    public var channels: EventSequence<ByteChannel> {
        let core = core
        return EventSequence {
            let feed = Feed<ByteChannel>()
            let number = core.withState { state -> Int in
                let number = state.newNumber()
                state.channelFeeds[number] = feed
                return number
            }
            return FeedReader(feed, lifetime: Lifetime { core.withState { $0.channelFeeds[number] = nil } })
        }
    }
}
