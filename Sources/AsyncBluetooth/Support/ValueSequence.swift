/// Values that come over the air, for `for try await`.
///
/// Each iterator is a consumer of its own: what the values need (a scan, a subscription) begins with the iterator and
/// ends with it, at the end of the loop. Values that come while the consumer is busy are kept, as many as the
/// ``BufferingPolicy`` says. A cancelled task gets `CancellationError`; whoever reads next goes on with the next value.
public struct ValueSequence<Element: Sendable>: AsyncSequence, Sendable {
    let makeReader: @Sendable () -> ElementReader<Element>

    /// Begins to collect.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    /// One consumer.
    public struct Iterator: AsyncIteratorProtocol {
        var reader: ElementReader<Element>

        /// How many elements were dropped because this consumer was late; see ``BufferingPolicy``.
        public var droppedCount: Int { reader.droppedCount }

        /// The next value, nil at the end.
        ///
        /// - Throws: ``BluetoothError`` when there will be no more, or `CancellationError`.
        public mutating func next() async throws -> Element? { try await reader.next() }

        /// The next value, nil at the end, on the caller's actor.
        ///
        /// - Throws: ``BluetoothError`` when there will be no more, or `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await reader.next(isolation: actor)
        }
    }
}

/// Events that never fail, for `for await`.
///
/// Each iterator is a consumer of its own; what the events need ends with it. A cancelled task gets the end.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    let makeReader: @Sendable () -> ElementReader<Element>

    /// Begins to collect.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    /// One consumer.
    public struct Iterator: AsyncIteratorProtocol {
        var reader: ElementReader<Element>

        /// How many elements were dropped because this consumer was late; see ``BufferingPolicy``.
        public var droppedCount: Int { reader.droppedCount }

        /// The next event, nil at the end.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// The next event, nil at the end, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            do {
                return try await reader.next(isolation: actor)
            } catch {
                // A sequence of events has no error to throw: this is a cancellation, or a buffer that overflowed.
                return nil
            }
        }
    }
}
