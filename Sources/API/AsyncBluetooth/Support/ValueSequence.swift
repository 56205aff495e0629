import Foundation

/// Values that a device sends, for `for try await`.
///
/// Each iterator is a separate consumer: the scan or the subscription behind the values begins with the iterator and
/// ends with it, at the end of the loop. Values that arrive while the consumer is busy wait, up to the limit of the
/// ``BufferingPolicy``. A cancelled task receives `CancellationError`; the next read continues with the next value.
public struct ValueSequence<Element: Sendable>: AsyncSequence, Sendable {
    let makeReader: @Sendable () -> ElementReader<Element>

    /// Creates a consumer, which collects values from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    /// One consumer.
    public struct Iterator: AsyncIteratorProtocol {
        // `next` is specialized for the values of characteristics: generic code looks up its types for each value, which is
        // a fifth of its cost.
        var reader: ElementReader<Element>

        /// The number of elements that were dropped because this consumer was slow; see ``BufferingPolicy``.
        public var droppedCount: Int { reader.droppedCount }

        /// The next value, nil at the end.
        ///
        /// - Throws: ``BluetoothError`` when the sequence ends with an error, or `CancellationError`.
        @_specialize(where Element == Data)
        public mutating func next() async throws -> Element? { try await reader.next() }

        /// The next value, nil at the end, on the caller's actor.
        ///
        /// - Throws: ``BluetoothError`` when the sequence ends with an error, or `CancellationError`.
        @_specialize(where Element == Data)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await reader.next(isolation: actor)
        }
    }
}

/// Events that never fail, for `for await`.
///
/// Each iterator is a separate consumer. For a cancelled task the sequence ends.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    let makeReader: @Sendable () -> ElementReader<Element>

    /// Creates a consumer, which collects values from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    /// One consumer.
    public struct Iterator: AsyncIteratorProtocol {
        var reader: ElementReader<Element>

        /// The number of elements that were dropped because this consumer was slow; see ``BufferingPolicy``.
        public var droppedCount: Int { reader.droppedCount }

        /// The next event, nil at the end.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// The next event, nil at the end, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            do {
                return try await reader.next(isolation: actor)
            } catch {
                // Events have no errors: this is a cancellation, or an overflow of the buffer.
                return nil
            }
        }
    }
}

/// The consumer's side of an `ElementBuffer`; copies share the elements, and `onDeinit` follows the last copy.
struct ElementReader<Element: Sendable> {
    private enum Source {
        case buffer(ElementBuffer<Element>)
        case pull(@Sendable () async throws -> Element?)
    }

    private let source: Source
    private let context: BluetoothError.Context?
    private let onDeinit: DeinitAction?
    private var start: (@Sendable () async throws -> Void)?

    /// - Parameters:
    ///   - buffer: The elements.
    ///   - context: The operation that a timeout interrupts while an element is awaited.
    ///   - onDeinit: Runs with the release of the last copy.
    ///   - start: Must succeed before the first element.
    init(
        _ buffer: ElementBuffer<Element>, _ context: BluetoothError.Context? = nil, onDeinit: DeinitAction? = nil,
        start: (@Sendable () async throws -> Void)? = nil
    ) {
        source = .buffer(buffer)
        self.context = context
        self.onDeinit = onDeinit
        self.start = start
    }

    /// Creates a reader that fetches each element when it is read.
    init(pull: @escaping @Sendable () async throws -> Element?) {
        source = .pull(pull)
        context = nil
        onDeinit = nil
        start = nil
    }

    var droppedCount: Int {
        switch source {
        case .buffer(let buffer): buffer.droppedCount
        case .pull: 0
        }
    }

    /// Runs `start` before the first element, once.
    mutating func begin(isolation: isolated (any Actor)? = #isolation) async throws {
        guard let start else { return }
        try await start()
        self.start = nil
    }

    /// Removes the waiting elements.
    ///
    /// - Throws: The buffer's error.
    func discard() throws {
        if case .buffer(let buffer) = source { try buffer.discard() }
    }

    /// The next element, or nil at the end.
    ///
    /// - Throws: The buffer's error, or `CancellationError`.
    mutating func next(isolation: isolated (any Actor)? = #isolation) async throws -> Element? {
        let buffer: ElementBuffer<Element>
        switch source {
        case .pull(let pull): return try await pull()
        case .buffer(let own): buffer = own
        }
        try await begin(isolation: isolation)
        switch await buffer.next(isolation: isolation) {
        case .element(let element): return element
        case .end(let error):
            if let error { throw error }
            return nil
        case .cancelled:
            if let context { InterruptionRecord.current?.record(context) }
            throw CancellationError()
        }
    }
}
