import BluetoothSupport
import CoreBluetooth

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// Connects a `PeripheralServer` with its `CBPeripheralManager`, whose delegate it is.
///
/// The state is under one lock. Calls of CoreBluetooth are made outside it, in the order of the changes that led to
/// them, by one thread at a time; tasks are resumed outside it, too.
final class ServerCoordinator: NSObject, AdapterUser {
    let executor: any TaskExecutor
    let settings: PeripheralServer.Settings
    let log: Log
    let onEvent: (@Sendable (PeripheralServer.Event) -> Void)?
    let states: Broadcaster<CBManagerState>
    let subscriptions: Broadcaster<SubscriptionEvent>
    let channels: Broadcaster<ByteChannel>
    private let state: LockedState<ServerState>

    init(
        executor: any TaskExecutor, settings: PeripheralServer.Settings, restoring services: [ServedService],
        onRestore: (@Sendable (RestoredServer) -> Void)?, onEvent: (@Sendable (PeripheralServer.Event) -> Void)?
    ) {
        self.onEvent = onEvent
        self.executor = executor
        self.settings = settings
        log = Log(settings.logger)
        let publishing = BluetoothError.Context(.publish)
        states = Broadcaster(settings.buffering, publishing, log, current: .unknown)
        subscriptions = Broadcaster(settings.buffering, publishing, log)
        channels = Broadcaster(.oldest(settings.channelLimit), BluetoothError.Context(.channel), log)
        state = LockedState(ServerState(restorable: services, onRestore: onRestore))
    }

    /// Restores the services of an earlier process, before the first state or never.
    func restore(_ services: [CBMutableService], _ advertisement: AdvertisedData?) {
        log.debug(.server, "restored \(services.count) services")
        let (restored, handler) = withState { state in
            let all = services.map { state.restore($0) }
            let restored = RestoredServer(
                services: all.map(\.0), unanswered: all.filter { !$0.isAnswered }.map(\.0),
                advertisement: advertisement)
            return (restored, state.endRestoration())
        }
        handler?(restored)
    }

    // MARK: Changes

    /// Reads or changes the state, without consequences outside the lock.
    func withState<Result>(_ body: (inout ServerState) -> Result) -> Result {
        state.withLock(body)
    }

    /// Changes the state, then performs the resulting calls and resumes the resulting tasks.
    @discardableResult
    func transition<Result>(_ manager: CBPeripheralManager, _ body: (inout ServerState) -> Result) -> Result {
        state.transition(body) { submit($0, to: manager) }
    }

    private func submit(_ call: ServerState.Call, to manager: CBPeripheralManager) {
        switch call {
        case .add(let service): manager.add(service)
        case .remove(let service): manager.remove(service)
        case .startAdvertising(let data): startAdvertising(data, manager)
        case .stopAdvertising: manager.stopAdvertising()
        case .publish(let isEncryptionRequired): manager.publishL2CAPChannel(withEncryption: isEncryptionRequired)
        case .unpublish(let psm): manager.unpublishL2CAPChannel(psm)
        }
    }

    private func startAdvertising(_ data: AdvertisedData, _ manager: CBPeripheralManager) {
        #if canImport(Darwin)
        var dictionary: [String: Any] = [CBAdvertisementDataServiceUUIDsKey: data.serviceUUIDs]
        dictionary[CBAdvertisementDataLocalNameKey] = data.localName
        manager.startAdvertising(dictionary)
        #else
        manager.startAdvertising(
            localName: data.localName, serviceUUIDs: data.serviceUUIDs, manufacturerData: data.manufacturerData,
            serviceData: data.serviceData)
        #endif
    }

    // MARK: The adapter

    func withAdapter<Result: Sendable>(_ body: (inout AdapterStatus) -> Result) -> Result {
        withState { body(&$0.adapter) }
    }

    /// Waits for `poweredOn`, and changes the state while the adapter is on.
    func whenReady<Result>(
        _ manager: Unchecked<CBPeripheralManager>, _ body: (inout ServerState) -> Result
    ) async throws -> Result {
        while true {
            try await ready()
            let result = transition(manager.value) { $0.adapter.state == .poweredOn ? body(&$0) : nil }
            if let result { return result }
        }
    }

    func changeState(to new: CBManagerState, _ manager: CBPeripheralManager) {
        log.debug(.server, "Bluetooth is \(new)")
        let (sendState, restored) = transition(manager) { state in
            defer { state.restoration.subscribers = [] }
            _ = state.endRestoration()
            state.changeState(to: new)
            return (states.replaceCurrent(with: new), new == .poweredOn ? state.restoration.subscribers : [])
        }
        onEvent?(.stateChanged(new))
        sendState()
        for (central, characteristic) in restored {
            addSubscriber(central, to: characteristic, Unchecked(manager))
        }
    }

    /// Ends everything when the server is released.
    func abandon(_ manager: CBPeripheralManager) {
        for handler in transition(manager, { $0.abandon() }) { handler.cancel() }
        states.finish()
        subscriptions.finish()
        channels.finish()
    }

    // MARK: Updates

    /// Sends updates in order while there is room, one thread at a time.
    func pump(_ manager: CBPeripheralManager) {
        guard withState({ $0.updates.pump.begin() }) else { return }
        repeat {
            while let (update, object) = nextUpdate() {
                let centrals = update.centrals.map { wanted in
                    (object.subscribedCentrals ?? []).filter { wanted.contains($0.identifier) }
                }
                guard manager.updateValue(update.value, for: object, onSubscribedCentrals: centrals) else { break }
                withState { $0.updates.queue.removeAll { $0.waiter === update.waiter } }
                update.waiter.finish(.success(()))
                onEvent?(.notified(update.characteristic, update.value, to: update.centrals))
            }
        } while withState { $0.updates.pump.mustRepeat() }
    }

    private func nextUpdate() -> (ServerState.Update, CBMutableCharacteristic)? {
        withState { state in
            guard let first = state.updates.queue.first, let object = state.published.objects[first.characteristic]
            else { return nil }
            return (first, object)
        }
    }
}
