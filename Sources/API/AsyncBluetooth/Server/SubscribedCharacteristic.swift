import BluetoothSupport
public import CoreBluetooth

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// Values that a write handler sends: they follow the response to the write.
///
/// An indication that answers a control point thus arrives after the response, as the services' specifications demand.
final class DeferredUpdates: Sendable {
    /// The values of the handler that runs in the present task.
    @TaskLocal static var current: DeferredUpdates?

    /// The values so far; nil once the response was sent.
    private let updates = Lock<[ServerState.Update]?>([])

    /// Appends a value.
    ///
    /// - Returns: Whether the response is still to come; without it the value is sent at once.
    func append(_ update: ServerState.Update) -> Bool {
        updates.withLock { updates in
            guard updates != nil else { return false }
            updates?.append(update)
            return true
        }
    }

    /// Returns the values so far; later ones are not deferred.
    func end() -> [ServerState.Update] { updates.withLock { $0.take() } ?? [] }
}

/// Access to one characteristic while at least one device subscribes to it.
///
/// A ``ServedCharacteristic/whileSubscribed`` task receives it.
public struct SubscribedCharacteristic: Sendable {
    let core: ServerCoordinator
    let manager: Unchecked<CBPeripheralManager>
    /// The path of the characteristic.
    public let id: CharacteristicID

    /// Sends a notification or indication to all subscribers, as ``PeripheralServer/send(_:of:to:)`` does.
    @discardableResult
    public func send(_ value: Data) -> Bool { core.send(value, of: id, to: nil, manager.value) }

    /// Suspends the task, in the time of the server's backend: an emulator's in virtual time.
    ///
    /// - Throws: `CancellationError` when the last device unsubscribes.
    public func sleep(for duration: Duration) async throws {
        try await ManagerClock(of: manager.value).sleep(for: duration)
    }
}

extension ServerCoordinator {
    /// Sends a value to the subscribers after all waiting values, without waiting for it.
    ///
    /// - Returns: Whether the value will be sent.
    func send(
        _ value: Data, of characteristic: CharacteristicID, to centrals: [RemoteCentral]?,
        _ manager: CBPeripheralManager
    ) -> Bool {
        let update = ServerState.Update(
            characteristic: characteristic, value: value, centrals: centrals.map { Set($0.map(\.identifier)) },
            waiter: Waiter())
        if let deferred = DeferredUpdates.current, deferred.append(update) { return true }
        let isSent = enqueue(update)
        if isSent { pump(manager) }
        return isSent
    }

    func enqueue(_ update: ServerState.Update) -> Bool {
        let limit = max(1, settings.updateLimit)
        let (isQueued, isFirstRefusal) = withState { state -> (Bool, Bool) in
            guard state.adapter.state == .poweredOn, state.published.objects[update.characteristic] != nil else {
                return (false, false)
            }
            guard state.updates.queue.count < limit else {
                state.updates.refusedCount += 1
                return (false, state.updates.refusedCount == 1)
            }
            state.updates.queue.append(update)
            return (true, false)
        }
        if isFirstRefusal {
            log.warning(.server, "\(limit) values wait for subscribers: further values are dropped until there is room")
        }
        return isQueued
    }

    // MARK: Tasks of subscribed characteristics

    /// Adds a subscriber; the first one starts the task of its characteristic.
    func addSubscriber(_ central: UUID, to id: CharacteristicID, _ manager: Unchecked<CBPeripheralManager>) {
        withState { _ = $0.subscriptions.subscribers[id, default: []].insert(central) }
        startTask(of: id, manager)
    }

    /// Starts the task of a characteristic that has subscribers, unless it runs.
    func startTask(of id: CharacteristicID, _ manager: Unchecked<CBPeripheralManager>) {
        guard let (number, body) = withState({ $0.beginTask(of: id) }) else { return }
        let characteristic = SubscribedCharacteristic(core: self, manager: manager, id: id)
        let log = log
        let task = Task(executorPreference: executor) {
            do {
                try await body(characteristic)
            } catch is CancellationError {
            } catch {
                log.warning(.server, "the task of \(id)'s subscribers failed: \(error)")
            }
        }
        let isCurrent = withState { state -> Bool in
            guard state.subscriptions.tasks[id]?.number == number else { return false }
            state.subscriptions.tasks[id]?.task = task
            return true
        }
        if !isCurrent { task.cancel() }
    }
}

extension ServerState {
    /// Reserves the place of a characteristic's task.
    ///
    /// - Returns: The number of the place, and the body of the task; nil if no task is to start.
    mutating func beginTask(of id: CharacteristicID) -> (number: Int, body: ServedCharacteristic.SubscriptionHandler)? {
        guard subscriptions.tasks[id] == nil, subscriptions.subscribers[id]?.isEmpty == false,
            let object = published.objects[id],
            let body = published.attributes[ObjectIdentifier(object)]?.served.whileSubscribed
        else { return nil }
        let number = newNumber()
        subscriptions.tasks[id] = Subscriptions.Running(number: number)
        return (number, body)
    }

    /// Cancels the task of a characteristic with its last subscriber.
    mutating func removeSubscriber(_ central: UUID, from id: CharacteristicID) {
        subscriptions.subscribers[id]?.remove(central)
        if subscriptions.subscribers[id]?.isEmpty == true { removeSubscribers(of: id) }
    }

    mutating func removeSubscribers(of id: CharacteristicID) {
        subscriptions.subscribers[id] = nil
        guard let task = subscriptions.tasks.removeValue(forKey: id)?.task else { return }
        calls.complete { task.cancel() }
    }

    mutating func removeAllSubscribers() {
        for id in Array(subscriptions.subscribers.keys) { removeSubscribers(of: id) }
    }
}
