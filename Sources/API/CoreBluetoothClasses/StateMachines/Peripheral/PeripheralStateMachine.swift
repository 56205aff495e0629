import BluetoothBackend
import BluetoothValues
import DequeModule

/// The state of a peripheral manager: its adapter's state, its database, its advertisement, its subscribers, and the
/// requests that wait for the app.
///
/// Pure: an API call or an event of the backend goes in, effects come out. API calls take effect on the caller's
/// thread, events on the manager's queue, just before their callback.
struct PeripheralStateMachine: Sendable {
    /// The adapter's state, as the delegate knows it.
    private(set) var state = AdapterState.unknown
    var database = LocalDatabase()
    var additions = ResponseOrder<PeripheralCallback>()
    var advertising = AdvertisingState()
    var subscribers = SubscriberTable()
    var requests: [RequestID: HeldRequest] = [:]
    /// The last write commands, to which the app need not respond.
    var writeCommands = Deque<RequestID>()
    var channels = ChannelListeners()
    /// Whether the app learns that all its updates have left, besides that a refused one would go (S137).
    var announcesSentBursts = true
    private var lastOperation = OperationID(rawValue: 0)

    mutating func handle(_ event: PeripheralEvent) -> [PeripheralEffect] {
        switch event {
        case .stateChanged(let new): changeState(to: new)
        case .serviceAdded(let operation): added(operation, nil) ?? []
        case .advertisingStarted(let operation): advertisingStarted(operation, nil) ?? []
        case .advertisingEnded: advertisingEnded()
        case .operationFailed(let operation, let error): failed(operation, error)
        case .subscribed(let central, let attribute, let mtu, let credits):
            subscribed(central, to: attribute, mtu: mtu, credits: credits)
        case .unsubscribed(let central, let attribute): unsubscribed(central, from: attribute)
        case .notifyCredits(let central, let count): granted(count, to: central)
        case .mtuChanged(let central, let mtu): mtuChanged(central, mtu)
        case .readRequested(let request, let central, let attribute, let offset, let mtu):
            readRequested(request, central, attribute, offset: offset, mtu: mtu)
        case .writeRequested(let request, let central, let mtu, let wantsResponse, let parts):
            writeRequested(request, central, parts, mtu: mtu, wantsResponse: wantsResponse)
        case .requestExpired(let request): requestExpired(request)
        case .channelPublished, .channelUnpublished, .channelOpened: handleChannelEvent(event)
        // Restored state arrives with its objects; bytes and credits of a channel do not pass through the machine.
        case .authorizationChanged, .restored, .channel: []
        }
    }

    /// Handles the completion of an API call, on the queue.
    mutating func handle(_ completion: PeripheralCompletion) -> [PeripheralEffect] {
        switch completion {
        case .refused(let operation, let error): failed(operation, error)
        case .withdrawn(let services): services.map { .forget($0) } + readiness()
        case .unknownPSM(let psm): unknownPSM(psm)
        }
    }

    private mutating func failed(_ operation: OperationID, _ error: BackendError) -> [PeripheralEffect] {
        added(operation, error) ?? advertisingStarted(operation, error) ?? channelFailed(operation, error) ?? []
    }

    /// Follows a change of the adapter's state (S5, S104, S105).
    private mutating func changeState(to new: AdapterState) -> [PeripheralEffect] {
        guard new != state else { return [] }
        let old = state
        state = new
        var effects: [PeripheralEffect] = []
        if old == .poweredOn || new != .poweredOn && !subscribers.attributes.isEmpty { effects += endSession() }
        if new != .poweredOn && new != .poweredOff {
            effects += database.serviceIDs.flatMap { withdraw($0) }
        }
        effects += advertising.adapterChanged(to: new) ? resumeAdvertising() : []
        return effects + [.callback(.stateUpdated)]
    }

    /// Ends everything that needs power: subscriptions, requests, and all calls without an answer.
    private mutating func endSession() -> [PeripheralEffect] {
        var effects: [PeripheralEffect] = subscribers.attributes.map { .clearSubscribers($0) }
        subscribers = SubscriberTable()
        requests = [:]
        channels = ChannelListeners()
        let unanswered = additions.removeAll()
        effects += unanswered.compactMap { database.service(addedBy: $0) }.flatMap { id in
            [.submit(.removeService(id))] + withdraw(id)
        }
        return effects + [.dropAdditions(unanswered)]
    }

    /// Removes a service, on the manager's queue.
    mutating func withdraw(_ id: AttributeID) -> [PeripheralEffect] {
        dropService(id) ? [.thaw(id), .forget(id)] : []
    }

    /// Removes a service from the database, with its subscriptions.
    ///
    /// - Returns: Whether the database contained it.
    @discardableResult
    mutating func dropService(_ id: AttributeID) -> Bool {
        guard let service = database.remove(id) else { return false }
        for attribute in service.characteristics { subscribers.removeSubscribers(of: attribute) }
        return true
    }

    mutating func newOperation() -> OperationID {
        lastOperation = lastOperation.next
        return lastOperation
    }
}

/// State restoration (S141, S143).
extension PeripheralStateMachine {
    /// Restores the published services, their subscribers, and the advertisement, which resumes when the adapter is on.
    ///
    /// - Parameter keys: The objects of the services, in their order, each with those of its characteristics.
    mutating func restore(
        _ restored: RestoredPeripheralState, as keys: [(service: ObjectKey, characteristics: [ObjectKey])]
    ) -> [PeripheralEffect] {
        for (definition, keys) in zip(restored.services, keys) {
            database.restore(definition, as: keys.service, keys.characteristics)
        }
        for subscription in restored.subscriptions where database.characteristic(subscription.attribute) != nil {
            _ = subscribers.subscribe(
                subscription.central, to: subscription.attribute, mtu: max(subscription.mtu, ATTLimits.minimumMTU),
                credits: 0)
        }
        if let advertisement = restored.advertisement { advertising.restore(advertisement) }
        return [.callback(.willRestore(restored))]
    }
}
