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

/// A consumer's side of an `ElementBuffer`; copies share the elements, and what they need ends with the last copy.
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
    ///   - buffer: Where the elements are.
    ///   - context: What a timeout interrupts while an element is awaited.
    ///   - onDeinit: Ends with the reader.
    ///   - start: What has to succeed before the first element.
    init(
        _ buffer: ElementBuffer<Element>, _ context: BluetoothError.Context? = nil, onDeinit: DeinitAction? = nil,
        start: (@Sendable () async throws -> Void)? = nil
    ) {
        source = .buffer(buffer)
        self.context = context
        self.onDeinit = onDeinit
        self.start = start
    }

    /// A reader whose elements are fetched when it asks for them.
    init(pull: @escaping @Sendable () async throws -> Element?) {
        source = .pull(pull)
        context = nil
        onDeinit = nil
        start = nil
    }

    /// How many elements were dropped because the consumer was late.
    var droppedCount: Int {
        switch source {
        case .buffer(let buffer): buffer.droppedCount
        case .pull: 0
        }
    }

    /// Does what has to succeed before the first element, once.
    mutating func begin(isolation: isolated (any Actor)? = #isolation) async throws {
        guard let start else { return }
        try await start()
        self.start = nil
    }

    /// Drops what has come so far.
    func discard() {
        if case .buffer(let buffer) = source { buffer.discard() }
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

#if os(Linux)
import BluetoothLocking
import CoreBluetooth
public import CoreBluetoothPackage

// What is dropped before it reaches a sequence; what a sequence itself drops is counted by its iterator.

extension Central {
    /// Counts what the manager under this central did not deliver, since its queue was too slow for it.
    ///
    /// Linux only. The page "Limits" of CoreBluetooth lists the limits and what happens beyond them; what a late consumer
    /// of a sequence loses is counted apart, by `droppedCount` of its iterator.
    public var droppedEvents: CBDroppedEvents { radio.manager.value.droppedEvents }
}

extension PeripheralServer {
    /// Counts what the manager under this server did not deliver, since its queue was too slow for it.
    ///
    /// Linux only. The page "Limits" of CoreBluetooth lists the limits and what happens beyond them; requests that are
    /// refused because too many handlers run are not among them.
    public var droppedEvents: CBDroppedEvents { manager.value.droppedEvents }
}
#endif
