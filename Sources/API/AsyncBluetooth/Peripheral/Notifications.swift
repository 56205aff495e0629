import BluetoothSupport
public import CoreBluetooth

/// A value that a device notified or indicated.
public struct NotifiedValue: Hashable, Sendable {
    /// The characteristic that the value is of.
    public let characteristic: CharacteristicID
    /// The value.
    public let value: Data
}

/// Notifications and indications.
extension Peripheral {
    /// The notifications, or indications, of a characteristic.
    ///
    /// The first consumer subscribes, and the end of the last one unsubscribes; each receives every value that arrives
    /// after its start, also values that arrive before the subscription is confirmed. A lost link ends the sequence by
    /// throwing, unless ``maintainConnection(_:clock:)`` is running: then it continues with the next link, and one that
    /// begins while the adapter is off waits for it, within ``Central/Settings/operationTimeout``.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic whose values are received.
    ///   - buffering: The number of values that wait for a slow consumer; nil for the policy of the central's settings.
    public func notifications(
        of characteristic: CharacteristicID, buffering: BufferingPolicy? = nil
    ) -> ValueSequence<Data> {
        ValueSequence { self.reader(of: [characteristic], buffering) { $1 } }
    }

    /// A consumer of notifications, which subscribes when it reads its first value.
    ///
    /// - Parameter outlivesLink: Whether it continues with the next link of a maintained connection.
    private func reader<Element>(
        of characteristics: [CharacteristicID], _ buffering: BufferingPolicy? = nil,
        for operation: BluetoothError.Operation = .notifications, outlivesLink: Bool = true,
        _ element: @escaping @Sendable (CharacteristicID, Data) -> Element
    ) -> ElementReader<Element> {
        let context = context(operation, characteristics.map(\.description).joined(separator: ", "))
        let (core, central) = (core, core.handle.core)
        let buffer = ElementBuffer<Element>(buffering ?? central.settings.buffering, context, central.log)
        let consumers = characteristics.map { id in
            let number = core.withState {
                $0.addConsumer(
                    of: id, outlivesLink: outlivesLink, { buffer.append(element(id, $0)) },
                    finish: { buffer.finish($0) })
            }
            return (id, number)
        }
        return ElementReader(
            buffer, context,
            // The peripheral, and so the link, lasts as long as the consumer.
            onDeinit: DeinitAction { for (id, number) in consumers { self.core.removeConsumer(number, of: id) } },
            start: {
                try await BluetoothError.run(
                    context, within: central.settings.operationTimeout, clock: core.handle.clock
                ) { for id in characteristics { try await core.subscribe(id) } }
            })
    }

    /// Subscribes, and returns when the device has confirmed it; values are buffered from then on.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic whose values are received.
    ///   - buffering: The number of values that wait for a slow consumer; nil for the policy of the central's settings.
    /// - Returns: The values. A loop that follows another one continues after its last value; concurrent loops share
    ///   the values, each of which one of them receives. The subscription ends with the sequence and its iterators.
    public func subscribe(
        to characteristic: CharacteristicID, buffering: BufferingPolicy? = nil
    ) async throws -> ValueSequence<Data> {
        try await subscribed(reader(of: [characteristic], buffering) { $1 })
    }

    /// Subscribes to several characteristics, whose values come in one sequence in the order of their arrival.
    ///
    /// See ``subscribe(to:buffering:)`` for one characteristic. The sequence throws as soon as one of the subscriptions
    /// ends.
    ///
    /// - Parameters:
    ///   - characteristics: The characteristics whose values are received; they are subscribed to in this order.
    ///   - buffering: The number of values that wait for a slow consumer; nil for the policy of the central's settings.
    public func subscribe(
        to characteristics: [CharacteristicID], buffering: BufferingPolicy? = nil
    ) async throws -> ValueSequence<NotifiedValue> {
        try await subscribed(
            reader(of: characteristics, buffering) { NotifiedValue(characteristic: $0, value: $1) })
    }

    private func subscribed<Element>(_ reader: ElementReader<Element>) async throws -> ValueSequence<Element> {
        var reader = reader
        try await reader.begin()
        let ready = reader
        return ValueSequence { ready }
    }

    /// Ends all subscriptions to a characteristic, and returns when the device has confirmed it.
    ///
    /// The sequences of its values end. A subscription that ends with its last consumer ends without a wait; this
    /// method waits for such an end, too, as is needed before ``disconnect()``: a bonded device remembers a
    /// subscription that is still on.
    ///
    /// - Parameter characteristic: The characteristic whose values were received; without a subscription the call has
    ///   no effect.
    /// - Throws: ``BluetoothError`` if the device refuses it, or the link ends first.
    public func unsubscribe(from characteristic: CharacteristicID) async throws {
        try await run(.notifications, characteristic) { [core] in try await core.unsubscribe(characteristic) }
    }

    /// Writes a command and waits for the notification that answers it.
    ///
    /// Exchanges with responses on the same characteristic are made one after the other. An exchange fails when the
    /// link is lost, also while ``maintainConnection(_:clock:)`` is running: the response belongs to the link of the
    /// command.
    ///
    /// - Parameters:
    ///   - value: The command, written with response if the characteristic supports that, otherwise without.
    ///   - command: The characteristic to write.
    ///   - response: The characteristic that notifies the response. Values that arrived before the write are ignored.
    ///   - isAnswer: Whether a value is the response.
    public func exchange(
        _ value: Data, writingTo command: CharacteristicID, notifiedBy response: CharacteristicID,
        where isAnswer: @escaping @Sendable (Data) -> Bool = { _ in true }
    ) async throws -> Data {
        try await run(.exchange, response) { [self] in
            let turns = core.withState { $0.turnQueue(of: response) }
            try await turns.begin()
            defer { turns.end() }
            return try await writeAndAwait(value, command, response, isAnswer)
        }
    }

    private func writeAndAwait(
        _ value: Data, _ command: CharacteristicID, _ response: CharacteristicID, _ isAnswer: (Data) -> Bool
    ) async throws -> Data {
        var reader = reader(of: [response], for: .exchange, outlivesLink: false) { $1 }
        try await reader.begin()
        let properties = try await BluetoothError.run(context(.exchange, command)) {
            try await core.characteristic(command).attribute.properties
        }
        try reader.discard()
        if properties.contains(.write) {
            try await write(value, to: command)
        } else {
            try await writeWithoutResponse(value, to: command)
        }
        while let answer = try await reader.next() {
            if isAnswer(answer) { return answer }
        }
        throw OperationFailure(.disconnected(nil))
    }
}

/// Notifications, from the first consumer of a characteristic to the last.
extension PeripheralCoordinator {
    func removeConsumer(_ number: Int, of id: CharacteristicID) {
        transition { $0.removeConsumer(number, of: id) }
    }

    /// Subscribes, unless that was done; waits for the next link while the connection is maintained.
    func subscribe(_ id: CharacteristicID) async throws {
        while true {
            do {
                return try await subscribeOnce(id)
            } catch let failure as OperationFailure {
                guard failure.reason.isLossOfLink, withState({ $0.maintenance.isActive }) else { throw failure }
                try await handle.core.ready(patiently: true)
                // The app may have ended the connection during the wait, and then wants no further link.
                guard withState({ $0.maintenance.isActive }) else { throw OperationFailure(.cancelled) }
            }
        }
    }

    private func subscribeOnce(_ id: CharacteristicID) async throws {
        let found = try await characteristic(id)
        try Task.checkCancellation()
        let waiter = Waiter<CallResult>()
        let isOn = transition { state -> Bool? in
            guard state.link?.number == found.link else { return nil }
            // Without consumers the subscription failed, and the buffers have its error.
            guard let subscription = state.subscriptions[id], !subscription.consumers.isEmpty else { return true }
            if subscription.phase == .on { return true }
            state.subscriptions[id]?.waiters.append(waiter)
            state.found(found.attribute, for: id)
            return false
        }
        guard let isOn else { throw ended(found.link) }
        if isOn { return }
        _ = try await waiter.value { withState { $0.subscriptions[id]?.waiters.removeAll { $0 === waiter } } }
    }

    /// Ends all consumers of a characteristic, and waits until its subscription is off.
    func unsubscribe(_ id: CharacteristicID) async throws {
        try Task.checkCancellation()
        let waiter = Waiter<CallResult>()
        guard transition({ $0.unsubscribe(id, waiter) }) else { return }
        _ = try await waiter.value { withState { $0.subscriptions[id]?.endWaiters.removeAll { $0 === waiter } } }
    }

    /// Subscribes again, on a new link, for all consumers; a sequence whose characteristic is missing ends.
    ///
    /// When the link ends or the adapter is switched off meanwhile, all sequences wait for the next link.
    func resubscribe() async throws {
        let ids = withState { state in
            state.subscriptions.filter { $0.value.phase == .off && !$0.value.consumers.isEmpty }.keys.map { $0 }
        }
        for id in ids.sorted(by: { $0.description < $1.description }) {
            do {
                try await subscribeOnce(id)
            } catch let failure as OperationFailure {
                if failure.reason.isLossOfLink { throw failure }
                transition { $0.removeSubscription(id, failure.reason) }
            }
        }
    }
}

extension BluetoothError.Reason {
    /// Whether the link ended, or the adapter became unusable, so that the next link may serve instead.
    fileprivate var isLossOfLink: Bool {
        switch self {
        case .disconnected, .unavailable: true
        default: false
        }
    }
}

/// The consumers of a characteristic's notifications, and the phase of the subscription.
struct Subscription {
    enum Phase {
        case off, turningOn, on, turningOff
    }

    struct Consumer {
        let number: Int
        /// Whether it continues with the next link of a maintained connection.
        let outlivesLink: Bool
        let deliver: @Sendable (Data) -> Void
        let finish: @Sendable ((any Error)?) -> Void
    }

    var consumers: [Consumer] = []
    var phase = Phase.off
    /// The characteristic on the present link, once it was found.
    var characteristic: CBCharacteristic?
    var waiters: [Waiter<CallResult>] = []
    var endWaiters: [Waiter<CallResult>] = []
}
