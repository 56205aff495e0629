import Foundation
import GRDB

/// The messages that wait for the broker, in an SQLite file.
///
/// One process at a time opens a file: a second one fails.
package final class MessageStore: Sendable {
    /// What a commit changed.
    package struct Commit: Sendable {
        /// The new messages.
        package var inserted: [StoredMessage] = []
        /// How many of the oldest were dropped because the queue was full.
        package var dropped = 0
        /// How many messages the queue has now.
        package var count = 0
    }

    /// The first part of the identifiers of this file's messages.
    package let name: String
    /// How many messages the queue takes.
    package let limit: Int
    private let database: DatabaseQueue

    /// Opens the file, or creates it.
    package init(_ settings: QueueSettings) throws {
        var configuration = GRDB.Configuration()
        configuration.label = "queue"
        configuration.journalMode = .wal
        configuration.prepareDatabase { database in
            // The lock is held until the end of the process, which saves the shared memory of WAL, too.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try database.execute(sql: "PRAGMA synchronous = \(settings.survivesPowerLoss ? "FULL" : "NORMAL")")
        }
        database = try DatabaseQueue(path: settings.file, configuration: configuration)
        limit = settings.rows
        name = try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS message (
                      row INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL,
                      retained INTEGER NOT NULL);
                    CREATE TABLE IF NOT EXISTS queue (name TEXT NOT NULL);
                    CREATE TABLE IF NOT EXISTS announced (topic TEXT PRIMARY KEY) WITHOUT ROWID;
                    """)
            if let name = try String.fetchOne(database, sql: "SELECT name FROM queue") { return name }
            let name = String(UInt32.random(in: .min ... .max), radix: 16)
            try database.execute(sql: "INSERT INTO queue VALUES (?)", arguments: [name])
            return name
        }
    }

    /// How many messages wait, and the last row that was ever used.
    package func state() throws -> (count: Int, last: Int64) {
        try database.read { database in
            (
                try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM message") ?? 0,
                try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'message'") ?? 0
            )
        }
    }

    /// Puts messages into the queue, and removes those that the broker has acknowledged, in one transaction.
    ///
    /// - Parameters:
    ///   - count: How many messages the queue has.
    ///   - loaded: The last row that was handed to the client; rows up to it are not dropped.
    package func commit(
        _ messages: [OutgoingMessage], removing rows: [Int64], count: Int, loaded: Int64
    ) async throws -> Commit {
        try await database.write { [name, limit] database in
            var commit = Commit(count: count)
            let delete = try database.cachedStatement(sql: "DELETE FROM message WHERE row = ?")
            for row in rows {
                try delete.execute(arguments: [row])
                commit.count -= database.changesCount
            }
            let insert = try database.cachedStatement(
                sql: "INSERT INTO message (row, topic, payload, retained) VALUES (?, ?, ?, ?)")
            var last = try Self.lastRow(database)
            for message in messages {
                last += 1
                let payload = try message.body.json(id: "\(name)-\(last)")
                try insert.execute(arguments: [last, message.topic, payload, message.isRetained])
                commit.inserted.append(
                    StoredMessage(row: last, topic: message.topic, payload: payload, isRetained: message.isRetained))
            }
            commit.count += messages.count
            if commit.count > limit { try Self.drop(&commit, to: limit, after: loaded, in: database) }
            return commit
        }
    }

    private static func lastRow(_ database: Database) throws -> Int64 {
        let last = try database.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'message'")
        return try Int64.fetchOne(last) ?? 0
    }

    /// Drops the oldest messages that were not handed to the client.
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

    /// The oldest messages after a row.
    package func messages(after row: Int64, limit: Int) async throws -> [StoredMessage] {
        try await database.read { database in
            let select = try database.cachedStatement(
                sql: "SELECT row, topic, payload, retained FROM message WHERE row > ? ORDER BY row LIMIT ?")
            return try Row.fetchAll(select, arguments: [row, limit]).map { row in
                StoredMessage(row: row[0], topic: row[1], payload: row[2], isRetained: row[3])
            }
        }
    }

    // MARK: Discovery

    /// The topics of the discovery messages that the broker keeps.
    package func announcedTopics() async throws -> Set<String> {
        try await database.read { try String.fetchSet($0, sql: "SELECT topic FROM announced") }
    }

    /// Notes the topics of the discovery messages that the broker keeps.
    package func setAnnouncedTopics(_ topics: Set<String>) async throws {
        try await database.write { database in
            try database.execute(sql: "DELETE FROM announced")
            for topic in topics {
                try database.execute(sql: "INSERT INTO announced VALUES (?)", arguments: [topic])
            }
        }
    }

    /// Closes the file.
    package func close() throws { try database.close() }
}
