import BluetoothLocking
import CoreBluetooth
import Synchronization

/// What stands between a `PeripheralServer` and its `CBPeripheralManager`, whose delegate it is.
///
/// The state is under one lock; CoreBluetooth is called, and tasks go on, outside it.
final class ServerCore: NSObject, Sendable {
    let executor: any TaskExecutor
    private let state: Lock<Unchecked<ServerState>>

    init(
        executor: any TaskExecutor, restoring services: [ServedService],
        onRestore: (@Sendable (RestoredServer) -> Void)?
    ) {
        self.executor = executor
        state = Lock(Unchecked(ServerState(restorable: services, onRestore: onRestore)))
    }

    /// What an earlier process left, before the first state or never.
    func restore(_ services: [CBMutableService], _ advertisement: AdvertisedData?) {
        Log.debug(.server, "restored \(services.count) services")
        let (restored, handler) = withState { state in
            let all = services.map { state.restore($0) }
            let restored = RestoredServer(
                services: all.map(\.0), unanswered: all.filter { !$0.isAnswered }.map(\.0),
                advertisement: advertisement)
            return (restored, state.endRestoration())
        }
        handler?(restored)
    }

    func withState<Result>(_ body: (inout ServerState) -> Result) -> Result {
        state.withLock { Unchecked(body(&$0.value)) }.value
    }

    // MARK: The adapter

    /// Waits for `poweredOn`.
    func ready() async throws {
        try Task.checkCancellation()
        while true {
            let waiter = Waiter<Void>()
            let now = withState { state -> CBManagerState in
                if state.managerState != .poweredOn { state.ready.append(waiter) }
                return state.managerState
            }
            if now == .poweredOn { return }
            if now.isTerminal {
                withState { $0.ready.removeAll { $0 === waiter } }
                throw Failure(.unavailable(now))
            }
            try await waiter.value { withState { $0.ready.removeAll { $0 === waiter } } }
        }
    }

    func changeState(to new: CBManagerState) {
        let (ready, failed, publishing) = withState { state in
            _ = state.endRestoration()
            state.managerState = new
            defer { state.ready = [] }
            guard new != .poweredOn else { return (state.ready, [Waiter<Void>](), [Waiter<CBL2CAPPSM>]()) }
            defer { state.publishing = [] }
            // All but a switched off adapter withdraw what was published.
            if new != .poweredOff {
                state.services = [:]
                state.attributes = [:]
                state.objects = [:]
            }
            return (state.ready, state.takeWaiters(), state.publishing)
        }
        Log.debug(.server, "Bluetooth is \(new)")
        for waiter in failed { waiter.finish(.failure(Failure(.unavailable(new)))) }
        for waiter in publishing { waiter.finish(.failure(Failure(.unavailable(new)))) }
        for waiter in ready { waiter.finish(.success(())) }
    }

    // MARK: Handlers

    /// Runs a handler in a task that ends with the server.
    func handle(_ body: @escaping @Sendable () async -> Void) {
        let number = withState { state -> Int in
            let number = state.newNumber()
            state.handlers[number] = .some(nil)
            return number
        }
        let task = Task(executorPreference: executor) { [weak self] in
            await body()
            self?.withState { $0.handlers[number] = nil }
        }
        withState { state in
            if state.handlers[number] != nil { state.handlers[number] = task }
        }
    }

    /// The server is gone.
    func abandon() {
        let (handlers, subscriptions, channels, waiters) = withState { state in
            let handlers = state.handlers.values.compactMap { $0 }
            return (
                handlers, Array(state.subscriptionFeeds.values), Array(state.channelFeeds.values), state.takeWaiters()
            )
        }
        for task in handlers { task.cancel() }
        for feed in subscriptions { feed.finish() }
        for feed in channels { feed.finish() }
        for waiter in waiters { waiter.finish(.failure(Failure(.cancelled))) }
    }

    // MARK: Updates

    func enqueue(_ update: ServerState.Update, on manager: CBPeripheralManager) {
        withState { $0.updates.append(update) }
        pump(manager)
    }

    /// Sends updates in order while there is room, one thread at a time.
    func pump(_ manager: CBPeripheralManager) {
        let isFirst = withState { state -> Bool in
            defer { state.isPumping = true }
            state.mustPumpAgain = state.isPumping
            return !state.isPumping
        }
        guard isFirst else { return }
        repeat {
            while let (update, object) = nextUpdate() {
                let centrals = update.centrals.map { wanted in
                    (object.subscribedCentrals ?? []).filter { wanted.contains($0.identifier) }
                }
                guard manager.updateValue(update.value, for: object, onSubscribedCentrals: centrals) else { break }
                withState { $0.updates.removeAll { $0.waiter === update.waiter } }
                update.waiter.finish(.success(()))
            }
        } while withState { state in
            defer { state.mustPumpAgain = false }
            state.isPumping = state.mustPumpAgain
            return state.mustPumpAgain
        }
    }

    private func nextUpdate() -> (ServerState.Update, CBMutableCharacteristic)? {
        withState { state in
            guard let first = state.updates.first, let object = state.objects[first.characteristic] else { return nil }
            return (first, object)
        }
    }
}
