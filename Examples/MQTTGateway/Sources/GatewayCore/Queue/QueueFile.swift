import Foundation
import GRDB
import Logging
import Synchronization

/// An open file of the queue: its schema, and the known state of its content.
///
/// A damaged file is renamed, and a new one with the messages that can still be read takes its place.
final class QueueFile: Sendable {
    /// The number of waiting messages, and the last row that was ever used.
    struct State {
        var count: Int
        var last: Int64
    }

    /// The number of damaged files that are kept; the last one is then replaced.
    static let damagedFiles = 8
    /// The largest row number; a greater number is damage.
    private static let rowLimit = Int64.max / 2

    let database: DatabaseQueue
    /// The first part of the identifiers of this file's messages.
    let name: String
    /// Whether each row has a checksum.
    let hasChecksums: Bool
    let state: Mutex<State>

    /// Opens the file, or creates it.
    ///
    /// - Throws: For a damaged file, an error for which ``isDamage(_:of:)`` is true.
    init(_ settings: QueueSettings) throws {
        database = try Self.open(settings.file, survivesPowerLoss: settings.survivesPowerLoss)
        do {
            let (name, hasChecksums, state) = try database.write { database in
                let check = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
                guard check == "ok" else { throw QueueDamage(description: check ?? "it cannot be checked") }
                try Self.createTables(database)
                return (try Self.name(database), try Self.hasChecksums(database), try Self.state(database))
            }
            self.name = name
            self.hasChecksums = hasChecksums
            self.state = Mutex(state)
        } catch {
            try database.close()
            throw error
        }
    }

    private static func open(_ file: String, survivesPowerLoss: Bool) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.label = "queue"
        configuration.journalMode = .wal
        configuration.prepareDatabase { database in
            // The lock is held until the end of the process, which also avoids the shared memory of WAL.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try database.execute(sql: "PRAGMA synchronous = \(survivesPowerLoss ? "FULL" : "NORMAL")")
        }
        return try DatabaseQueue(path: file, configuration: configuration)
    }

    private static func createTables(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS message (
                  row INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL,
                  retained INTEGER NOT NULL, checksum INTEGER NOT NULL);
                CREATE TABLE IF NOT EXISTS queue (name TEXT NOT NULL);
                CREATE TABLE IF NOT EXISTS announced (topic TEXT PRIMARY KEY) WITHOUT ROWID;
                """)
        // An earlier version created the file.
        if try !database.columns(in: "message").contains(where: { $0.name == "checksum" }) {
            try database.execute(sql: "ALTER TABLE message ADD COLUMN checksum INTEGER")
        }
    }

    /// Whether the version that created the file wrote checksums only: the column that a later one adds may be null.
    fileprivate static func hasChecksums(_ database: Database) throws -> Bool {
        try database.columns(in: "message").contains { $0.name == "checksum" && $0.isNotNull }
    }

    private static func name(_ database: Database) throws -> String {
        if let name = try String.fetchOne(database, sql: "SELECT name FROM queue") { return name }
        let name = String(UInt32.random(in: .min ... .max), radix: 16)
        try database.execute(sql: "INSERT INTO queue VALUES (?)", arguments: [name])
        return name
    }

    private static func state(_ database: Database) throws -> State {
        let count = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM message") ?? 0
        let newest = try Int64.fetchOne(database, sql: "SELECT MAX(row) FROM message") ?? 0
        let last = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'message'") ?? 0
        guard last >= newest, last < rowLimit else { throw QueueDamage(description: "the last row is \(last)") }
        return State(count: count, last: last)
    }

    // MARK: Damage

    /// Whether an error means that the content of the file is damaged, rather than that it is busy, or that the disk is
    /// full.
    static func isDamage(_ error: any Error, of file: String) -> Bool {
        switch error {
        case is QueueDamage, is RowDecodingError: true
        case let error as DatabaseError:
            switch error.resultCode {
            // The statements are constant: one that is wrong for a file finds other tables in it.
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR: true
            // The file states that only a later version of SQLite may write it.
            case .SQLITE_READONLY: FileManager.default.isWritableFile(atPath: file)
            default: false
            }
        default: false
        }
    }

    /// Renames the damaged file, and opens a new one with the messages that can be read from it.
    ///
    /// - Parameter last: The last row that was used; the new file begins after it.
    static func replace(
        _ settings: QueueSettings, after error: any Error, last: Int64, _ logger: Logger
    ) throws -> QueueFile {
        let damaged = try setAside(settings.file)
        let file = try QueueFile(settings)
        var copied = CopiedMessages()
        do {
            let old = try open(damaged, survivesPowerLoss: false)
            copied = try file.database.write { try CopiedMessages(from: old, into: $0) }
            try old.close()
        } catch {
            logger.error("nothing can be read of the damaged queue", metadata: ["error": "\(error)"])
        }
        let state = State(count: copied.count, last: max(last, copied.last))
        file.state.withLock { $0 = state }
        try file.database.write { database in
            try database.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'message'")
            try database.execute(sql: "INSERT INTO sqlite_sequence VALUES ('message', ?)", arguments: [state.last])
        }
        logger.error(
            "the file of the queue is damaged: it was renamed, and a new one has the messages that could be read",
            metadata: ["error": "\(error)", "renamed": "\(damaged)", "read": "\(copied.count)"])
        return file
    }

    /// Renames the files of a queue.
    ///
    /// - Returns: The new name.
    private static func setAside(_ file: String) throws -> String {
        let manager = FileManager.default
        let names = (1...damagedFiles).map { "\(file).damaged-\($0)" }
        let name = names.first { !manager.fileExists(atPath: $0) } ?? "\(file).damaged-\(damagedFiles)"
        for suffix in ["", "-wal", "-shm"] {
            if manager.fileExists(atPath: name + suffix) { try manager.removeItem(atPath: name + suffix) }
            guard manager.fileExists(atPath: file + suffix) else { continue }
            try manager.moveItem(atPath: file + suffix, toPath: name + suffix)
        }
        return name
    }
}

/// The evidence that a file of the queue is damaged.
struct QueueDamage: Error, CustomStringConvertible {
    var description: String
}

/// The messages of a damaged file that could be read and copied to a new one.
private struct CopiedMessages {
    var count = 0
    var last: Int64 = 0
    /// Whether each row of the damaged file has a checksum.
    private var hasChecksums = true

    init() {}

    /// Copies the messages, and the topics of discovery.
    init(from old: DatabaseQueue, into database: Database) throws {
        // Done without a transaction, whose end fails once SQLite has found damage.
        try old.unsafeRead { old in
            hasChecksums = try QueueFile.hasChecksums(old)
            var next: Int64? = .min
            while let row = next { next = try copy(from: row, of: old, into: database) }
            // Without the topics, some discovery messages are not withdrawn later.
            let topics = (try? Set(String.fetchAll(old, sql: "SELECT topic FROM announced"))) ?? []
            for topic in topics {
                try database.execute(sql: "INSERT INTO announced VALUES (?)", arguments: [topic])
            }
        }
    }

    /// Copies messages until a page that cannot be read.
    ///
    /// - Returns: The first row after that page; nil at the end.
    private mutating func copy(from first: Int64, of old: Database, into database: Database) throws -> Int64? {
        var next = first
        do {
            let rows = try Row.fetchCursor(
                old, sql: "SELECT \(StoredMessage.columns) FROM message WHERE row >= ? ORDER BY row", arguments: [first]
            )
            while let row = try rows.next() {
                let number = try row.decode(Int64.self, atIndex: 0)
                guard number < .max else { return nil }
                next = number + 1
                // The others are read.
                do { try add(StoredMessage(row, hasChecksum: hasChecksums), to: database) } catch is QueueDamage {}
            }
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return Self.readableRow(from: next, of: old)
        }
    }

    private mutating func add(_ message: StoredMessage, to database: Database) throws {
        try message.insert(into: database)
        count += 1
        last = message.row
    }

    /// Returns the first readable row from a damaged page on: the rows of a page are consecutive.
    private static func readableRow(from row: Int64, of old: Database) -> Int64? {
        func isReadable(_ row: Int64) -> Int64? {
            // An unreadable row is skipped by the search.
            try? Int64.fetchOne(
                old, sql: "SELECT row FROM message WHERE row >= ? ORDER BY row LIMIT 1", arguments: [row])
        }
        var (low, step): (Int64, Int64) = (max(row, 0), 1)
        while isReadable(low + step) == nil {
            guard step < 1 << 60 else { return nil }
            low += step
            step *= 2
        }
        var high = low + step
        while low + 1 < high {
            let middle = low + (high - low) / 2
            if isReadable(middle) == nil { low = middle } else { high = middle }
        }
        return high
    }
}
