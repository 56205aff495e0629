public import Foundation

/// A transport within one process: each end is a client of a hub.
public actor InMemoryEmulatorTransport: EmulatorTransport {
    /// A hub that passes bytes from client to client.
    public actor Hub {
        private var clients: [UUID: Client] = [:]

        /// Creates a hub without clients.
        public init() {}

        func add(_ client: Client, as identifier: UUID) { clients[identifier] = client }

        /// Removes the client, unless another one has taken its identifier.
        func remove(_ client: Client, as identifier: UUID) {
            if clients[identifier] === client { clients[identifier] = nil }
        }

        func send(_ data: Data, from sender: UUID, to receiver: UUID) async throws {
            guard let client = clients[receiver] else { throw InMemoryTransportError.clientNotFound(receiver) }
            client.deliver(data, from: sender)
        }
    }

    /// An end at a hub.
    public actor Client {
        /// The identifier of the end.
        public nonisolated let processID: UUID
        /// The role of the end for others.
        public nonisolated let role: EmulatorProcessRole
        nonisolated let stream: AsyncStream<(UUID, Data)>
        private nonisolated let continuation: AsyncStream<(UUID, Data)>.Continuation

        init(processID: UUID, role: EmulatorProcessRole) {
            self.processID = processID
            self.role = role
            (stream, continuation) = AsyncStream.makeStream()
        }

        nonisolated func deliver(_ data: Data, from sender: UUID) { continuation.yield((sender, data)) }

        nonisolated func finish() { continuation.finish() }
    }

    private let hub: Hub
    private let client: Client

    /// Creates an end that is not yet at the hub; see ``start()``.
    public init(hub: Hub, processID: UUID = UUID(), role: EmulatorProcessRole = .both) {
        self.hub = hub
        client = Client(processID: processID, role: role)
    }

    /// Begins to receive.
    public func start() async { await hub.add(client, as: client.processID) }

    /// Stops receiving; ``receive()`` ends.
    public func cleanup() async {
        await hub.remove(client, as: client.processID)
        client.finish()
    }

    /// Sends bytes to an end of the same hub.
    ///
    /// - Throws: ``InMemoryTransportError/clientNotFound(_:)``.
    public func send(_ data: Data, to processID: UUID) async throws {
        try await hub.send(data, from: client.processID, to: processID)
    }

    /// Returns the received bytes, with their senders, for one reader; earlier bytes are kept for the reader.
    public nonisolated func receive() -> AsyncStream<(UUID, Data)> { client.stream }

    /// The identifier of this end.
    ///
    /// An extension of this package.
    public nonisolated var processID: UUID { client.processID }

    /// Returns two ends of a new hub, which are not yet started.
    public static func createTestPair() -> (
        peripheral: InMemoryEmulatorTransport, central: InMemoryEmulatorTransport, hub: Hub
    ) {
        let hub = Hub()
        return (
            InMemoryEmulatorTransport(hub: hub, role: .peripheral), InMemoryEmulatorTransport(hub: hub, role: .central),
            hub
        )
    }
}

/// The reason that nothing was sent.
public enum InMemoryTransportError: Error {
    /// No client of the hub has the identifier.
    case clientNotFound(UUID)
    /// A broadcast did not reach all clients; not thrown by ``InMemoryEmulatorTransport``, which sends to one.
    case broadcastFailed
}
