import BluetoothSupport

/// The connections of a relay, each with its place.
final class RelayedConnections: Sendable {
    fileprivate struct State {
        var places: ConnectionPlaces
        /// The waiters for the ends of connections, each finished when its connection must end.
        var ends: [ConnectionPlaces.ID: Waiter<Void>] = [:]
    }

    fileprivate let rules: AccessRules
    fileprivate let state: Lock<State>

    /// - Parameters:
    ///   - limit: The largest number of connections.
    ///   - rules: The rules that decide whether a connection has shown the token.
    init(limit: Int, _ rules: AccessRules) {
        self.rules = rules
        state = Lock(State(places: ConnectionPlaces(limit: limit)))
    }

    /// Begins a connection, in place of another one at the limit; nil if none may end.
    func open() -> RelayedConnection? {
        let end = Waiter<Void>()
        let opened = state.withLock { state -> (ConnectionPlaces.ID, Waiter<Void>?)? in
            guard let (new, replaced) = state.places.add() else { return nil }
            state.ends[new] = end
            return (new, replaced.flatMap { state.ends.removeValue(forKey: $0) })
        }
        guard let (id, replaced) = opened else { return nil }
        replaced?.finish(.success(()))
        return RelayedConnection(id, end, in: self)
    }
}

/// One connection of a relay.
struct RelayedConnection: Sendable {
    private let id: ConnectionPlaces.ID
    private let end: Waiter<Void>
    private let connections: RelayedConnections

    fileprivate init(_ id: ConnectionPlaces.ID, _ end: Waiter<Void>, in connections: RelayedConnections) {
        (self.id, self.end, self.connections) = (id, end, connections)
    }

    /// Whether the connection has shown the token.
    var isAuthorized: Bool { connections.state.withLock { $0.places.isAuthorized(id) } }

    /// Records that the connection has sent the head of a request, with this `Authorization` field.
    func asks(_ authorization: String?) {
        let isAuthorized = connections.rules.isAuthorized(authorization)
        connections.state.withLock { $0.places.asks(id, isAuthorized: isAuthorized) }
    }

    /// Records that the server has answered the connection.
    func isAnswered() { connections.state.withLock { $0.places.isAnswered(id) } }

    /// Waits, once, until another connection takes its place.
    ///
    /// - Throws: `CancellationError`.
    func waitUntilReplaced() async throws { try await end.value(onCancel: {}) }

    /// Releases the place.
    func close() {
        connections.state.withLock { state in
            state.places.remove(id)
            state.ends[id] = nil
        }
    }
}
