import GRDB
package import Logging
import Synchronization

/// The messages that wait for the broker, in an SQLite file.
///
/// Only one process at a time can open a file: a second one fails.
package final class MessageStore: Sendable {
    /// The changes of a commit.
    package struct Commit: Sendable {
        /// The new messages.
        package var inserted: [StoredMessage] = []
        /// The number of oldest messages that were dropped because the queue was full.
        package var dropped = 0
        /// The number of messages that the queue now contains.
        package var count = 0
    }

    /// The number of messages that the queue accepts.
    package let limit: Int
    private let settings: QueueSettings
    private let logger: Logger
    private let file: Mutex<QueueFile>

    /// Opens the file, or creates it; a damaged file is renamed.
    package init(_ settings: QueueSettings, logger: Logger) throws {
        self.settings = settings
        self.logger = logger
        limit = settings.rows
        do {
            file = Mutex(try QueueFile(settings))
        } catch  where QueueFile.isDamage(error, of: settings.file) {
            file = Mutex(try QueueFile.replace(settings, after: error, last: 0, logger))
        }
    }

    /// The number of waiting messages, and the last row that was ever used.
    package var state: (count: Int, last: Int64) {
        file.withLock { $0.state.withLock { ($0.count, $0.last) } }
    }

    /// Uses the file; if it turns out to be damaged, replaces it and uses the new one.
    private func using<Result: Sendable>(_ body: (QueueFile) async throws -> Result) async throws -> Result {
        let used = file.withLock(\.self)
        do {
            return try await body(used)
        } catch {
            let isReplaced = try file.withLock { file in
                // Another task may have replaced it.
                guard file === used else { return true }
                guard QueueFile.isDamage(error, of: settings.file) else { return false }
                try used.database.close()
                file = try QueueFile.replace(
                    settings, after: error, last: used.state.withLock { $0.last }, logger)
                return true
            }
            guard isReplaced else { throw error }
            return try await body(file.withLock(\.self))
        }
    }

    /// Puts messages into the queue, and removes those that the broker has acknowledged, in one transaction.
    ///
    /// - Parameter loaded: The last row that was passed to the client; rows up to it are not dropped.
    package func commit(
        _ messages: [OutgoingMessage], removing rows: [Int64], loaded: Int64
    ) async throws -> Commit {
        try await using { file in
            let (commit, last) = try await file.database.write { [limit] database in
                let state = file.state.withLock(\.self)
                var (commit, last) = (Commit(count: state.count), state.last)
                let delete = try database.cachedStatement(sql: "DELETE FROM message WHERE row = ?")
                for row in rows {
                    try delete.execute(arguments: [row])
                    commit.count -= database.changesCount
                }
                for message in messages {
                    last += 1
                    let stored = StoredMessage(
                        row: last, topic: message.topic, payload: message.body.json(id: "\(file.name)-\(last)"),
                        isRetained: message.isRetained)
                    try stored.insert(into: database)
                    commit.inserted.append(stored)
                }
                commit.count += messages.count
                if commit.count > limit { try Self.drop(&commit, to: limit, after: loaded, in: database) }
                return (commit, last)
            }
            file.state.withLock { $0 = QueueFile.State(count: commit.count, last: last) }
            return commit
        }
    }

    /// Drops the oldest messages that were not passed to the client.
    private static func drop(
        _ commit: inout Commit, to limit: Int, after loaded: Int64, in database: Database
    ) throws {
        try database.execute(
            sql: "DELETE FROM message WHERE row IN (SELECT row FROM message WHERE row > ? ORDER BY row LIMIT ?)",
            arguments: [loaded, commit.count - limit])
        commit.dropped = database.changesCount
        commit.count -= commit.dropped
        let oldest = try Int64.fetchOne(
            database, sql: "SELECT MIN(row) FROM message WHERE row > ?", arguments: [loaded])
        commit.inserted.removeAll { message in oldest.map { message.row < $0 } ?? true }
    }

    /// Returns the oldest messages after a row.
    package func messages(after row: Int64, limit: Int) async throws -> [StoredMessage] {
        try await using { file in
            try await file.database.read { database in
                let select = try database.cachedStatement(
                    sql: "SELECT \(StoredMessage.columns) FROM message WHERE row > ? ORDER BY row LIMIT ?")
                return try Row.fetchAll(select, arguments: [row, limit])
                    .map { try StoredMessage($0, hasChecksum: file.hasChecksums) }
            }
        }
    }

    // MARK: Discovery

    /// Returns the topics of the discovery messages that the broker keeps.
    package func announcedTopics() async throws -> Set<String> {
        try await using { file in
            try await file.database.read { Set(try String.fetchAll($0, sql: "SELECT topic FROM announced")) }
        }
    }

    /// Records the topics of the discovery messages that the broker keeps.
    package func setAnnouncedTopics(_ topics: Set<String>) async throws {
        try await using { file in
            try await file.database.write { database in
                try database.execute(sql: "DELETE FROM announced")
                for topic in topics {
                    try database.execute(sql: "INSERT INTO announced VALUES (?)", arguments: [topic])
                }
            }
        }
    }

    /// Closes the file.
    package func close() throws { try file.withLock { try $0.database.close() } }
}
