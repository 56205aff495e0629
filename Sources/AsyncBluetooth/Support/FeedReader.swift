/// The consumer's side of a feed; what the feed needs ends with the last copy.
struct FeedReader<Element: Sendable> {
    private let feed: Feed<Element>
    private let context: BluetoothError.Context?
    private let lifetime: Lifetime?
    private var start: (@Sendable () async throws -> Void)?
    private let pull: (@Sendable () async throws -> Element?)?
    private var elements: [Element] = []
    private var position = 0

    /// - Parameters:
    ///   - feed: Where the elements are.
    ///   - context: What a timeout interrupts while an element is awaited.
    ///   - lifetime: Ends with the reader.
    ///   - start: What has to succeed before the first element.
    init(
        _ feed: Feed<Element>, _ context: BluetoothError.Context? = nil, lifetime: Lifetime? = nil,
        start: (@Sendable () async throws -> Void)? = nil
    ) {
        self.feed = feed
        self.context = context
        self.lifetime = lifetime
        self.start = start
        pull = nil
    }

    /// A reader whose elements are fetched when it asks for them.
    init(pull: @escaping @Sendable () async throws -> Element?) {
        feed = Feed()
        context = nil
        lifetime = nil
        start = nil
        self.pull = pull
    }

    /// Does what has to succeed before the first element, once.
    mutating func begin(isolation: isolated (any Actor)? = #isolation) async throws {
        guard let start else { return }
        try await start()
        self.start = nil
    }

    /// Drops what has come so far.
    mutating func discard() {
        elements = []
        position = 0
        feed.discard()
    }

    /// The next element, or nil at the end.
    ///
    /// - Throws: The feed's error, or `CancellationError`.
    mutating func next(isolation: isolated (any Actor)? = #isolation) async throws -> Element? {
        if position < elements.count {
            defer { position += 1 }
            return elements[position]
        }
        if let pull { return try await pull() }
        try await begin(isolation: isolation)
        switch await feed.next(isolation: isolation) {
        case .elements(let new):
            elements = new
            position = 1
            return new.first
        case .end(let error):
            if let error { throw error }
            return nil
        case .cancelled:
            if let context { InterruptionRecord.current?.note(context) }
            throw CancellationError()
        }
    }
}

/// Does something when its last reference goes.
final class Lifetime: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
