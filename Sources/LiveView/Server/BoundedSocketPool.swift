import BluetoothSupport
import FlyingSocks

/// A pool for a server with a limited number of connections that wait, each for a limited time.
///
/// A connection beyond the limit, and one that sends nothing for too long between two requests, is closed.
final class BoundedSocketPool: AsyncSocketPool {
    /// The number of connections that wait for bytes at once.
    static let maximumConnections = 16
    /// How long a connection may wait.
    static let timeout = Duration.seconds(60)

    private struct State {
        /// The socket that listens, which is the first to wait.
        var listener: Socket.FileDescriptor?
        var waiting = 0
    }

    private let base: any AsyncSocketPool
    private let state = Lock(State())

    init(_ base: any AsyncSocketPool) { self.base = base }

    func prepare() async throws { try await base.prepare() }

    func run() async throws { try await base.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        let mayWait = state.withLock { state in
            if state.listener == nil { state.listener = socket.file }
            guard state.listener != socket.file else { return true }
            guard state.waiting < Self.maximumConnections else { return false }
            state.waiting += 1
            return true
        }
        guard mayWait else { throw SocketError.disconnected }
        guard state.withLock({ $0.listener }) != socket.file else {
            return try await base.suspendSocket(socket, untilReadyFor: events)
        }
        defer { state.withLock { $0.waiting -= 1 } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [base] in try await base.suspendSocket(socket, untilReadyFor: events) }
            group.addTask {
                try await Task.sleep(for: Self.timeout)
                throw SocketError.disconnected
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
