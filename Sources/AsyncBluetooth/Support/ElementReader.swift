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
            if let context { InterruptionRecord.current?.note(context) }
            throw CancellationError()
        }
    }
}
