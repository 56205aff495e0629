/// The connections of a relay, which are limited in number, and which of them goes when there is one more.
///
/// Everyone on the machine can connect, so a place is kept for who has shown the token: another connection goes first, an idle
/// one before one whose request is being answered, the oldest before the others.
struct ConnectionPlaces: Sendable {
    typealias ID = UInt64

    private struct Connection {
        var id: ID
        var isAuthorized = false
        /// Whether a whole head of a request was sent and is not answered yet.
        var isAsking = false
    }

    private let limit: Int
    private var lastID: ID = 0
    /// From the oldest on.
    private var connections: [Connection] = []

    /// - Parameter limit: The largest number of connections.
    init(limit: Int) { self.limit = limit }

    /// Adds a connection.
    ///
    /// - Returns: The connection, and the one that it replaces, if one has to go; nil where all have shown the token.
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

    /// The connection has sent the head of a request.
    mutating func asks(_ id: ID, isAuthorized: Bool) {
        guard let index = index(id) else { return }
        connections[index].isAsking = true
        // Who has shown the token once had it.
        if isAuthorized { connections[index].isAuthorized = true }
    }

    /// The server has answered the connection.
    mutating func isAnswered(_ id: ID) {
        if let index = index(id) { connections[index].isAsking = false }
    }

    /// Whether the connection has shown the token.
    func isAuthorized(_ id: ID) -> Bool { index(id).map { connections[$0].isAuthorized } ?? false }

    mutating func remove(_ id: ID) { connections.removeAll { $0.id == id } }

    private func index(_ id: ID) -> Int? { connections.firstIndex { $0.id == id } }
}
