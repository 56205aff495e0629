public import CoreBluetooth

/// Notifications and indications.
extension Peripheral {
    /// The notifications, or indications, of a characteristic.
    ///
    /// The first consumer subscribes, the end of the last one unsubscribes; each gets every value that comes after its
    /// beginning, also those that come before the subscription is confirmed. A lost link ends the sequence by throwing,
    /// unless ``maintainConnection(_:clock:)`` is at work: then it goes on with the next link.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic whose values are received.
    ///   - buffering: How many values are kept for a slow consumer; nil for the policy of the central's settings.
    public func notifications(
        of characteristic: CharacteristicID, buffering: BufferingPolicy? = nil
    ) -> ValueSequence<Data> {
        ValueSequence { self.reader(of: characteristic, buffering) }
    }

    /// A consumer of notifications, which subscribes with the first value that it asks for.
    private func reader(
        of characteristic: CharacteristicID, _ buffering: BufferingPolicy? = nil,
        for operation: BluetoothError.Operation = .notifications
    ) -> ElementReader<Data> {
        let context = context(operation, characteristic)
        let central = core.radio.core
        let buffer = ElementBuffer<Data>(buffering ?? central.settings.buffering, context, central.log)
        let number = core.addConsumer(buffer, of: characteristic)
        return ElementReader(
            buffer, context, onDeinit: DeinitAction { self.core.removeConsumer(number, of: characteristic) },
            start: {
                try await BluetoothError.run(
                    context, within: central.settings.operationTimeout, clock: self.core.radio.clock
                ) { try await self.core.subscribe(characteristic) }
            })
    }

    /// Subscribes, and returns when the device has confirmed it; values are kept from then on.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic whose values are received.
    ///   - buffering: How many values are kept for a slow consumer; nil for the policy of the central's settings.
    /// - Returns: The values. A loop that follows another one goes on where that ended; loops that run at once share the
    ///   values, each of which goes to one of them. The subscription ends with the sequence and its iterators.
    public func subscribe(
        to characteristic: CharacteristicID, buffering: BufferingPolicy? = nil
    ) async throws -> ValueSequence<Data> {
        var reader = reader(of: characteristic, buffering)
        try await reader.begin()
        let ready = reader
        return ValueSequence { ready }
    }

    /// Writes a command and waits for the notification that answers it.
    ///
    /// Requests that are answered by the same characteristic follow one another.
    ///
    /// - Parameters:
    ///   - value: The command; with response if the characteristic can, else without.
    ///   - command: Where it is written.
    ///   - response: Which characteristic notifies the answer. Values from before the command are none.
    ///   - isAnswer: Whether a value is the answer.
    public func request(
        _ value: Data, write command: CharacteristicID, notify response: CharacteristicID,
        where isAnswer: @escaping @Sendable (Data) -> Bool = { _ in true }
    ) async throws -> Data {
        try await run(.request, response) { [self] in
            try await core.takeTurn(response)
            defer { core.endTurn(response) }
            return try await exchange(value, command, response, isAnswer)
        }
    }

    private func exchange(
        _ value: Data, _ command: CharacteristicID, _ response: CharacteristicID, _ isAnswer: (Data) -> Bool
    ) async throws -> Data {
        var reader = reader(of: response, for: .request)
        try await reader.begin()
        let properties = try await BluetoothError.run(context(.request, command)) {
            try await core.characteristic(command).attribute.properties
        }
        reader.discard()
        if properties.contains(.write) {
            try await write(value, to: command)
        } else {
            try await writeWithoutResponse(value, to: command)
        }
        while let answer = try await reader.next() {
            if isAnswer(answer) { return answer }
        }
        throw Failure(.disconnected(nil))
    }
}

extension PeripheralCore {
    /// Waits until no other request uses a characteristic for its answer.
    func takeTurn(_ id: CharacteristicID) async throws {
        try Task.checkCancellation()
        let waiter = Waiter<Void>()
        let isFree = withState { state -> Bool in
            guard state.turns[id] != nil else {
                state.turns[id] = []
                return true
            }
            state.turns[id]?.append(waiter)
            return false
        }
        if !isFree { try await waiter.value { withState { $0.turns[id]?.removeAll { $0 === waiter } } } }
    }

    func endTurn(_ id: CharacteristicID) {
        while true {
            let next = withState { state -> Waiter<Void>? in
                guard let next = state.turns[id]?.first else {
                    state.turns[id] = nil
                    return nil
                }
                state.turns[id]?.removeFirst()
                return next
            }
            // One that was cancelled in the meantime does not take it.
            guard let next, !next.finish(.success(())) else { return }
        }
    }
}
