import BluetoothSupport
import FlyingFox
import FlyingSocks
import Foundation

/// Passes bytes between browsers on 127.0.0.1 and the server on its socket, within bounds that the server does not have: it
/// reads a request to the end before anyone can refuse it.
struct LoopbackRelay {
    /// The number of connections at once; a further one is closed.
    static let maximumConnections = 16
    /// A connection ends when it has sent so many bytes without an answer.
    static let maximumRequestLength = AccessRules.maximumBodyLength + 4 * AccessRules.maximumHeaderLength
    /// A connection ends when the server has sent nothing for so long; a stream of events has a heartbeat.
    static let timeout = Duration.seconds(60)

    private let listener: Socket
    private let server: String
    private let maximumRequestLength: Int
    /// The port on 127.0.0.1.
    let port: UInt16

    /// Listens.
    ///
    /// - Parameters:
    ///   - port: The port, 0 for a free one.
    ///   - server: The name of the server's socket.
    ///   - maximumRequestLength: How many bytes may be without an answer.
    init(port: UInt16, to server: String, maximumRequestLength: Int) throws {
        (self.server, self.maximumRequestLength) = (server, maximumRequestLength)
        listener = try Socket(domain: AF_INET)
        try listener.setValue(true, for: .localAddressReuse)
        try listener.bind(to: .inet(ip4: "127.0.0.1", port: port))
        try listener.listen()
        guard case .ip4(_, let port) = try listener.sockname() else { throw SocketError.unsupportedAddress }
        self.port = port
    }

    /// Relays until the task ends.
    func run() async throws {
        let pool = HTTPServer.defaultPool()
        try await pool.prepare()
        let listener = try AsyncSocket(socket: listener, pool: pool)
        let connections = StreamCount()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run() }
            group.addTask {
                try await withThrowingDiscardingTaskGroup { relays in
                    for try await client in listener.sockets {
                        let place = connections.open(limit: Self.maximumConnections)
                        relays.addTask {
                            if place != nil { await relay(client, pool) }
                            // A socket that is closed is no loss.
                            try? client.close()
                            withExtendedLifetime(place) {}
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Relays one connection until either side ends it, or a bound does.
    private func relay(_ client: AsyncSocket, _ pool: some AsyncSocketPool) async {
        let unanswered = SharedRequest(UnansweredRequest(maximumLength: maximumRequestLength))
        do {
            let upstream = try await AsyncSocket.connected(to: .unix(path: server), pool: pool)
            // A socket that is closed is no loss.
            defer { try? upstream.close() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await relayRequests(from: client, to: upstream, unanswered) }
                group.addTask { try await Self.relayAnswers(from: upstream, to: client, unanswered) }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            // Either side has ended the connection, or the time is over: the browser begins another.
        }
    }

    private func relayRequests(
        from client: AsyncSocket, to upstream: AsyncSocket, _ unanswered: SharedRequest
    ) async throws {
        while true {
            let bytes = try await client.read(atMost: 4_096)
            guard unanswered.state.withLock({ $0.add(bytes) }) else { return }
            try await upstream.write(Data(bytes))
        }
    }

    private static func relayAnswers(
        from upstream: AsyncSocket, to client: AsyncSocket, _ unanswered: SharedRequest
    ) async throws {
        while true {
            let bytes = try await TimeLimit.run(timeout, orThrow: SocketError.disconnected) {
                try await upstream.read(atMost: 4_096)
            }
            unanswered.state.withLock { $0.answered() }
            try await TimeLimit.run(timeout, orThrow: SocketError.disconnected) {
                try await client.write(Data(bytes))
            }
        }
    }
}

/// The request of a connection, which both of its directions change.
private final class SharedRequest: Sendable {
    let state: Lock<UnansweredRequest>

    init(_ request: UnansweredRequest) { state = Lock(request) }
}
