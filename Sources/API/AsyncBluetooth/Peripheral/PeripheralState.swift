import BluetoothSupport
import CoreBluetooth

/// The state of a peripheral: its link with the pending commands, and its subscriptions.
///
/// A change is made under the lock, and its consequences in `calls` follow outside.
struct PeripheralState: CoordinatorState {
    /// The making and the ending of links.
    struct Connecting {
        var lastLink = 0
        /// The last link that the app ended.
        var cancelledLink: Int?
        /// Whether a link is being made.
        var isActive = false
        /// Whether the app ended a link whose callback is still to come.
        var isClosing = false
        var waiters: [Waiter<Int>] = []
        var closes: [Waiter<Void>] = []
    }

    enum Order {
        case connect
        case cancel
        case command(PeripheralCall)
    }

    var object: CBPeripheral
    /// Whether CoreBluetooth has invalidated the object; the next connect retrieves another one.
    var isStale = false
    var link: ActiveConnection?
    var connecting = Connecting()
    var subscriptions: [CharacteristicID: Subscription] = [:]
    var lastConsumer = 0
    /// The tasks that maintain the connection; notifications survive the link while one is active.
    var maintenance = ConnectionMaintenance()
    /// The exchanges of each characteristic that notifies responses.
    private var turns: [CharacteristicID: TurnQueue] = [:]
    var context: [ObjectIdentifier: any Sendable] = [:]

    var writes = Pump()
    var calls = CallQueue<Order>()

    var identifier: UUID { object.identifier }

    init(_ object: CBPeripheral) {
        self.object = object
        switch object.state {
        case .connected: beginLink()
        case .connecting: connecting.isActive = true
        default: break
        }
    }

    // MARK: Consequences

    var allowsCalls: Bool { true }

    private mutating func finish(
        _ consumer: Subscription.Consumer, _ id: CharacteristicID, _ reason: BluetoothError.Reason
    ) {
        calls.complete { [object, identifier] in
            let context = BluetoothError.Context(
                .notifications, peer: identifier, peerName: object.name, path: id.description)
            consumer.finish(BluetoothError(context, reason))
        }
    }

    // MARK: The link

    mutating func beginLink() {
        connecting.isActive = false
        connecting.lastLink += 1
        link = ActiveConnection(number: connecting.lastLink)
        calls.complete(&connecting.waiters, .success(connecting.lastLink))
    }

    mutating func failConnects(_ reason: BluetoothError.Reason) {
        connecting.isActive = false
        calls.complete(&connecting.waiters, .failure(OperationFailure(reason)))
    }

    mutating func endClosing() {
        connecting.isClosing = false
        calls.complete(&connecting.closes, .success(()))
    }

    /// Ends the link with all pending commands; notifications continue on the next link of a maintained connection.
    mutating func endLink(_ reason: BluetoothError.Reason) {
        guard let old = link else { return }
        link = nil
        if case .cancelled = reason { connecting.cancelledLink = old.number }
        calls.removeAll { if case .command = $0 { true } else { false } }
        let failure = Result<CallResult, any Error>.failure(OperationFailure(reason))
        for waiter in old.waiters + old.ends { complete(waiter, failure) }
        let isKept = if case .cancelled = reason { false } else { maintenance.isActive }
        for (id, var subscription) in subscriptions {
            let wasActive = subscription.phase != .off
            calls.complete(&subscription.waiters, failure)
            calls.complete(&subscription.endWaiters, failure)
            subscription.characteristic = nil
            subscription.phase = .off
            if wasActive {
                let ended = subscription.consumers.filter { !isKept || !$0.outlivesLink }
                for consumer in ended { finish(consumer, id, reason) }
                subscription.consumers.removeAll { !isKept || !$0.outlivesLink }
            }
            subscriptions[id] = subscription.consumers.isEmpty ? nil : subscription
        }
    }

    /// Returns the reason for the end of a link, for an operation that was about to use it.
    func reasonForEnd(of number: Int) -> BluetoothError.Reason {
        number == connecting.cancelledLink ? .cancelled : .disconnected(nil)
    }

    mutating func beginMaintenance() -> Int {
        lastConsumer += 1
        maintenance.begin(lastConsumer)
        return lastConsumer
    }

    /// Stops the maintenance of the connection, because the app ended the link.
    mutating func stopMaintenance() {
        for task in maintenance.stop() { calls.complete { task.cancel() } }
    }

    /// Ends consumers without a subscription when no task maintains the connection.
    mutating func endMaintenance(_ number: Int, _ reason: BluetoothError.Reason) {
        maintenance.end(number)
        guard maintenance.isEmpty, link == nil else { return }
        for id in subscriptions.keys { removeSubscription(id, reason) }
    }

    // MARK: Commands

    mutating func enqueue(_ command: PeripheralCall, _ purpose: ActiveConnection.QueuedCommand.Purpose) {
        let queued = ActiveConnection.QueuedCommand(command: command, purpose: purpose)
        if let now = link?.enqueue(queued) { calls.append(.command(now)) }
    }

    /// Completes the call that a callback answers.
    ///
    /// - Returns: Whether a call waited for the answer.
    mutating func answered(_ key: PeripheralCall.Key, _ result: Result<CallResult, any Error>) -> Bool {
        guard let (slot, next) = link?.removeFirst(key) else { return false }
        if let next { calls.append(.command(next)) }
        let result = result.mapError { error -> any Error in OperationFailure(.refused(error)) }
        switch slot.purpose {
        case .waiter(let waiter): complete(waiter, result)
        case .discovery(let key):
            if case .success = result { link?.discovered.insert(key) }
            for waiter in link?.demands.removeValue(forKey: key) ?? [] { complete(waiter, result) }
        case .subscription(let id, let isOn): subscribed(id, isOn, result)
        }
        return true
    }

    // MARK: Subscriptions

    mutating func addConsumer(
        of id: CharacteristicID, outlivesLink: Bool, _ deliver: @escaping @Sendable (Data) -> Void,
        finish: @escaping @Sendable ((any Error)?) -> Void
    ) -> Int {
        lastConsumer += 1
        subscriptions[id, default: Subscription()].consumers.append(
            Subscription.Consumer(
                number: lastConsumer, outlivesLink: outlivesLink, deliver: deliver, finish: finish))
        return lastConsumer
    }

    mutating func removeConsumer(_ number: Int, of id: CharacteristicID) {
        subscriptions[id]?.consumers.removeAll { $0.number == number }
        reconcile(id)
    }

    /// Ends all consumers of a characteristic.
    ///
    /// - Returns: Whether the waiter waits for the end of the subscription; false without a subscription.
    mutating func unsubscribe(_ id: CharacteristicID, _ waiter: Waiter<CallResult>) -> Bool {
        for consumer in subscriptions[id]?.consumers ?? [] { calls.complete { consumer.finish(nil) } }
        subscriptions[id]?.consumers = []
        reconcile(id)
        guard subscriptions[id] != nil else { return false }
        subscriptions[id]?.endWaiters.append(waiter)
        return true
    }

    /// Removes a subscription, and ends its consumers with an error.
    mutating func removeSubscription(_ id: CharacteristicID, _ reason: BluetoothError.Reason) {
        guard var subscription = subscriptions.removeValue(forKey: id) else { return }
        let failure = Result<CallResult, any Error>.failure(OperationFailure(reason))
        calls.complete(&subscription.waiters, failure)
        calls.complete(&subscription.endWaiters, failure)
        for consumer in subscription.consumers { finish(consumer, id, reason) }
    }

    /// Records a characteristic of the present link.
    mutating func found(_ characteristic: CBCharacteristic, for id: CharacteristicID) {
        link?.notifying[ObjectIdentifier(characteristic)] = id
        subscriptions[id]?.characteristic = characteristic
        reconcile(id)
    }

    /// Turns the subscription on or off, if that is a change and no call is pending.
    mutating func reconcile(_ id: CharacteristicID) {
        guard var subscription = subscriptions[id] else { return }
        let isWanted = !subscription.consumers.isEmpty
        switch subscription.phase {
        case .off where !isWanted:
            // The tasks that wait for the subscription have no consumer left.
            calls.complete(&subscription.waiters, .success(CallResult()))
            subscriptions[id] = nil
        case .off, .on:
            guard isWanted == (subscription.phase == .off), let characteristic = subscription.characteristic else {
                return
            }
            subscriptions[id]?.phase = isWanted ? .turningOn : .turningOff
            let call = PeripheralCall(.notify, characteristic) { $0.setNotifyValue(isWanted, for: $1) }
            enqueue(call, .subscription(id, isOn: isWanted))
        case .turningOn, .turningOff: break
        }
    }

    private mutating func subscribed(
        _ id: CharacteristicID, _ isOn: Bool, _ result: Result<CallResult, any Error>
    ) {
        guard var subscription = subscriptions[id] else { return }
        let isDone = if case .success = result { true } else { false }
        subscription.phase = isOn && isDone ? .on : .off
        if isOn { calls.complete(&subscription.waiters, result) }
        if isOn, case .failure(let error) = result {
            let reason = (error as? OperationFailure)?.reason ?? .refused(error)
            for consumer in subscription.consumers { finish(consumer, id, reason) }
            subscription.consumers = []
        }
        if subscription.phase == .off {
            calls.complete(&subscription.endWaiters, isOn ? .success(CallResult()) : result)
        }
        subscriptions[id] = subscription
        reconcile(id)
    }

    /// Handles the end of a subscription that no call requested.
    mutating func subscriptionEnded(_ characteristic: CBCharacteristic, _ error: any Error) {
        guard let id = link?.notifying[ObjectIdentifier(characteristic)], subscriptions[id]?.phase == .on else {
            return
        }
        removeSubscription(id, .refused(error))
    }

    mutating func forget(_ services: [CBService]) {
        link?.forget(services)
        let gone = Set(services.map { ObjectIdentifier($0) })
        for (id, subscription) in subscriptions {
            guard let characteristic = subscription.characteristic,
                characteristic.service.map({ gone.contains(ObjectIdentifier($0)) }) ?? true
            else { continue }
            let reason = BluetoothError.Reason.missingCharacteristics([id.uuid])
            link?.notifying[ObjectIdentifier(characteristic)] = nil
            removeSubscription(id, reason)
        }
    }

    /// The order of the exchanges whose responses a characteristic notifies.
    mutating func turnQueue(of id: CharacteristicID) -> TurnQueue {
        let queue = turns[id] ?? TurnQueue()
        turns[id] = queue
        return queue
    }

    // MARK: Writes without response

    mutating func nextWrite() -> ActiveConnection.PendingWrite? {
        guard let first = link?.writes.first else { return nil }
        link?.writes.removeFirst()
        return first
    }
}
