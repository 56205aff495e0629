import BluetoothSupport
import FlyingFox
import FlyingSocks
import Foundation
import Logging

/// A relay between browsers on 127.0.0.1 and the server on its socket, with limits that the server lacks: the server
/// reads a whole request before it can be refused.
struct LoopbackRelay {
    /// The number of connections at once; see ``ConnectionPlaces``.
    static let maximumConnections = 16
    /// The time after which a connection that has not shown the token ends, if it sends no request.
    static let idleTimeout = Duration.seconds(10)
    /// The number of bytes without an answer at which a connection ends.
    static let maximumRequestLength = AccessRules.maximumBodyLength + 4 * AccessRules.maximumHeaderLength
    /// The time after which a connection ends if the server sends nothing; a stream of events has a heartbeat.
    static let timeout = Duration.seconds(60)
    /// The pause after a connection that could not be accepted.
    private static let acceptPause = Duration.milliseconds(200)

    private let listener: Socket
    private let server: String
    private let bounds: Bounds
    private let token: String
    /// The port on 127.0.0.1.
    let port: UInt16

    /// The bounds of a connection.
    struct Bounds: Sendable {
        /// The most bytes without an answer.
        var requestLength = LoopbackRelay.maximumRequestLength
        /// The longest time without a request for a connection that has not shown the token.
        var idleTime = LoopbackRelay.idleTimeout
    }

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - port: The port, 0 for a free one.
    ///   - server: The name of the server's socket.
    ///   - token: The token with which a connection keeps its place.
    init(port: UInt16, to server: String, token: String, bounds: Bounds) throws {
        (self.server, self.token, self.bounds) = (server, token, bounds)
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
        let connections = RelayedConnections(limit: Self.maximumConnections, AccessRules(token: token, port: port))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run() }
            group.addTask {
                try await withThrowingDiscardingTaskGroup { relays in
                    while let client = try await accept(from: listener) {
                        let connection = connections.open()
                        relays.addTask {
                            if let connection { await relay(client, connection, pool) }
                            // Closing a socket that is closed already does no harm.
                            try? client.close()
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits for the next connection, also while the process has no descriptor left.
    ///
    /// - Returns: nil when the listener is closed.
    private func accept(from listener: AsyncSocket) async throws -> AsyncSocket? {
        var hasWarned = false
        while true {
            do {
                return try await listener.accept()
            } catch SocketError.disconnected {
                return nil
            } catch let error where Self.isTemporary(error) {
                if !hasWarned {
                    Logger(label: "CoreBluetooth").line(.warning, "no browser can connect at present: \(error)")
                }
                hasWarned = true
                try await Task.sleep(for: Self.acceptPause)
            }
        }
    }

    /// Whether `accept(2)` may succeed later: the peer has hung up, or a resource of the process or the system is exhausted.
    static func isTemporary(_ error: any Error) -> Bool {
        guard case SocketError.failed(_, let code, _) = error else { return false }
        return [ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }

    /// Relays one connection until either side ends it, or a bound does.
    private func relay(_ client: AsyncSocket, _ connection: RelayedConnection, _ pool: some AsyncSocketPool) async {
        defer { connection.close() }
        let unanswered = SharedRequest(UnansweredRequest(maximumLength: bounds.requestLength))
        do {
            let upstream = try await AsyncSocket.connected(to: .unix(path: server), pool: pool)
            // Closing a socket that is closed already does no harm.
            defer { try? upstream.close() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await relayRequests(of: connection, from: client, to: upstream, unanswered) }
                group.addTask { try await Self.relayAnswers(to: connection, from: upstream, to: client, unanswered) }
                group.addTask { try await connection.waitUntilReplaced() }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            // Either side has ended the connection, or the time is over: the browser begins another.
        }
    }

    private func relayRequests(
        of connection: RelayedConnection, from client: AsyncSocket, to upstream: AsyncSocket,
        _ unanswered: SharedRequest
    ) async throws {
        while true {
            let bytes = try await read(from: client, of: connection)
            let request = unanswered.state.withLock { $0.add(bytes) ? $0 : nil }
            guard let request else { return }
            if !request.isHead { connection.asks(request.authorization) }
            try await upstream.write(Data(bytes))
        }
    }

    /// Returns the next bytes; an authorized connection may be silent while it reads events.
    private func read(from client: AsyncSocket, of connection: RelayedConnection) async throws -> [UInt8] {
        guard !connection.isAuthorized else { return try await client.read(atMost: 4_096) }
        return try await TimeLimit.run(bounds.idleTime, orThrow: SocketError.disconnected) {
            try await client.read(atMost: 4_096)
        }
    }

    private static func relayAnswers(
        to connection: RelayedConnection, from upstream: AsyncSocket, to client: AsyncSocket,
        _ unanswered: SharedRequest
    ) async throws {
        while true {
            let bytes = try await TimeLimit.run(timeout, orThrow: SocketError.disconnected) {
                try await upstream.read(atMost: 4_096)
            }
            unanswered.state.withLock { $0.answered() }
            connection.isAnswered()
            try await TimeLimit.run(timeout, orThrow: SocketError.disconnected) {
                try await client.write(Data(bytes))
            }
        }
    }
}

/// The request of a connection, which both directions of the relay change.
private final class SharedRequest: Sendable {
    let state: Lock<UnansweredRequest>

    init(_ request: UnansweredRequest) { state = Lock(request) }
}
