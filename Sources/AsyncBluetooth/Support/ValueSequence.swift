/// Values that come over the air, for `for try await`.
///
/// Each iterator is a consumer of its own: what the values need (a scan, a subscription) begins with the iterator and
/// ends with it, at the end of the loop. Values that come while the consumer is busy are kept. A cancelled task gets
/// `CancellationError`.
public struct ValueSequence<Element: Sendable>: AsyncSequence, Sendable {
    let makeReader: @Sendable () -> FeedReader<Element>

    /// Begins to collect.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    /// One consumer.
    public struct Iterator: AsyncIteratorProtocol {
        var reader: FeedReader<Element>

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
    let makeReader: @Sendable () -> FeedReader<Element>

    /// Begins to collect.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    /// One consumer.
    public struct Iterator: AsyncIteratorProtocol {
        var reader: FeedReader<Element>

        /// The next event, nil at the end.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// The next event, nil at the end, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            do {
                return try await reader.next(isolation: actor)
            } catch {
                // A feed of events ends without an error, so this is the cancellation.
                return nil
            }
        }
    }
}
