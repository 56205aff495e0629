import BluetoothSupport
import FlyingFox
import FlyingSocks
import Foundation
import Logging

/// Passes bytes between browsers on 127.0.0.1 and the server on its socket, within bounds that the server does not have: it
/// reads a request to the end before anyone can refuse it.
struct LoopbackRelay {
    /// The number of connections at once; see ``ConnectionPlaces``.
    static let maximumConnections = 16
    /// A connection that has not shown the token ends when it has asked nothing for so long.
    static let idleTimeout = Duration.seconds(10)
    /// A connection ends when it has sent so many bytes without an answer.
    static let maximumRequestLength = AccessRules.maximumBodyLength + 4 * AccessRules.maximumHeaderLength
    /// A connection ends when the server has sent nothing for so long; a stream of events has a heartbeat.
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
        /// How many bytes may be without an answer.
        var requestLength = LoopbackRelay.maximumRequestLength
        /// How long a connection that has not shown the token may ask nothing.
        var idleTime = LoopbackRelay.idleTimeout
    }

    /// Listens.
    ///
    /// - Parameters:
    ///   - port: The port, 0 for a free one.
    ///   - server: The name of the server's socket.
    ///   - token: Who shows it keeps its connection.
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
                            // A socket that is closed is no loss.
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
            // A socket that is closed is no loss.
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

    /// The next bytes; one that has shown the token may be silent while it reads events.
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

/// The request of a connection, which both of its directions change.
private final class SharedRequest: Sendable {
    let state: Lock<UnansweredRequest>

    init(_ request: UnansweredRequest) { state = Lock(request) }
}
