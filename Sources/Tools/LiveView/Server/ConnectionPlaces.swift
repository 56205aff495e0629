/// The connections of a relay, which are limited in number, and the choice of the one that must end for a new one.
///
/// Every user of the machine can connect, so connections that have shown the token keep their places. Of the others, an
/// idle one ends before one whose request is being answered, and an older one before a newer one.
struct ConnectionPlaces: Sendable {
    typealias ID = UInt64

    private struct Connection {
        var id: ID
        var isAuthorized = false
        /// Whether a complete head of a request was sent and has no answer yet.
        var isAsking = false
    }

    private let limit: Int
    private var lastID: ID = 0
    /// The connections, oldest first.
    private var connections: [Connection] = []

    /// - Parameter limit: The largest number of connections.
    init(limit: Int) { self.limit = limit }

    /// Adds a connection.
    ///
    /// - Returns: The connection, and the one that it replaces, if one has to end; nil if all have shown the token.
    mutating func add() -> (new: ID, replaced: ID?)? {
        var replaced: ID?
        if connections.count >= limit {
            let strangers = connections.filter { !$0.isAuthorized }
            guard let last = strangers.first(where: { !$0.isAsking }) ?? strangers.first else { return nil }
            remove(last.id)
            replaced = last.id
        }
        lastID += 1
        connections.append(Connection(id: lastID))
        return (lastID, replaced)
    }

    /// Records that the connection has sent the head of a request.
    mutating func asks(_ id: ID, isAuthorized: Bool) {
        guard let index = index(id) else { return }
        connections[index].isAsking = true
        // A connection that has shown the token once stays authorized.
        if isAuthorized { connections[index].isAuthorized = true }
    }

    /// Records that the server has answered the connection.
    mutating func isAnswered(_ id: ID) {
        if let index = index(id) { connections[index].isAsking = false }
    }

    /// Whether the connection has shown the token.
    func isAuthorized(_ id: ID) -> Bool { index(id).map { connections[$0].isAuthorized } ?? false }

    mutating func remove(_ id: ID) { connections.removeAll { $0.id == id } }

    private func index(_ id: ID) -> Int? { connections.firstIndex { $0.id == id } }
}
