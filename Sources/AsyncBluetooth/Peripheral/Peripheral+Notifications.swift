public import CoreBluetooth

/// Values that the device sends by itself.
extension Peripheral {
    /// The notifications, or indications, of a characteristic.
    ///
    /// The first consumer subscribes, the end of the last one unsubscribes; each gets every value that comes after its
    /// beginning, also those that come before the subscription is confirmed. A lost link ends the sequence by throwing,
    /// unless ``maintainConnection(_:clock:)`` is at work: then it goes on with the next link.
    ///
    /// - Parameters:
    ///   - characteristic: Whose values.
    ///   - limit: How many values are kept for a slow consumer; the oldest go first.
    public func notifications(
        of characteristic: CharacteristicID, keeping limit: Int = .max
    ) -> ValueSequence<Data> {
        ValueSequence { self.reader(of: characteristic, keeping: limit) }
    }

    /// A consumer of notifications, which subscribes with the first value that it asks for.
    private func reader(
        of characteristic: CharacteristicID, keeping limit: Int = .max,
        for operation: BluetoothError.Operation = .notifications
    ) -> FeedReader<Data> {
        let feed = Feed<Data>(keeping: limit)
        let number = core.addConsumer(feed, of: characteristic)
        let context = context(operation, characteristic)
        return FeedReader(
            feed, context, lifetime: Lifetime { self.core.removeConsumer(number, of: characteristic) },
            start: {
                try await BluetoothError.run(context) { try await self.core.subscribe(characteristic) }
            })
    }

    /// Subscribes, and returns when the device has confirmed it; values are kept from then on.
    ///
    /// - Parameters:
    ///   - characteristic: Whose values.
    ///   - limit: How many values are kept for a slow consumer; the oldest go first.
    /// - Returns: The values, for one consumer. The subscription ends with the sequence and its iterators.
    public func subscribe(
        to characteristic: CharacteristicID, keeping limit: Int = .max
    ) async throws -> ValueSequence<Data> {
        var reader = reader(of: characteristic, keeping: limit)
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
    ///   - isAnswer: Tells the answer from other values.
    public func request(
        _ value: Data, write command: CharacteristicID, notify response: CharacteristicID,
        where isAnswer: @Sendable (Data) -> Bool = { _ in true }
    ) async throws -> Data {
        try await BluetoothError.run(context(.request, response)) { try await core.takeTurn(response) }
        defer { core.endTurn(response) }
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
        return try await BluetoothError.run(context(.request, response)) {
            while let answer = try await reader.next() {
                if isAnswer(answer) { return answer }
            }
            throw Failure(.disconnected(nil))
        }
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
