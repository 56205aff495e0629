package import Foundation
import GRDB

/// A message in the queue.
package struct StoredMessage: Sendable, Equatable {
    /// The row, which is never reused for another message.
    package var row: Int64
    package var topic: String
    package var payload: Data
    package var isRetained: Bool
}

extension StoredMessage {
    /// The columns of its table, in the order of ``init(_:)``.
    static let columns = "row, topic, payload, retained, checksum"

    /// Reads a row, whose bytes may have changed on the disk.
    ///
    /// - Parameter hasChecksum: Whether each row of the file has a checksum; an earlier version wrote none.
    /// - Throws: ``QueueDamage`` for a row that differs from the written one.
    init(_ row: Row, hasChecksum: Bool) throws {
        let checksum: Int64?
        do {
            self.init(
                row: try row.decode(atIndex: 0), topic: try row.decode(atIndex: 1), payload: try row.decode(atIndex: 2),
                isRetained: try row.decode(atIndex: 3))
            checksum = try row.decode(Int64?.self, atIndex: 4)
        } catch {
            throw QueueDamage(description: "a row cannot be read: \(error)")
        }
        guard checksum == self.checksum || checksum == nil && !hasChecksum else {
            throw QueueDamage(description: "row \(self.row) has another checksum")
        }
    }

    func insert(into database: Database) throws {
        let insert = try database.cachedStatement(sql: "INSERT INTO message (\(Self.columns)) VALUES (?, ?, ?, ?, ?)")
        try insert.execute(arguments: [row, topic, payload, isRetained, checksum])
    }

    /// The FNV-1a checksum with 64 bits: it differs for any two messages that differ in one byte.
    ///
    /// Source: Fowler, Noll, Vo: "The FNV Non-Cryptographic Hash Algorithm".
    private var checksum: Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        withUnsafeBytes(of: row.littleEndian) { $0.forEach(add) }
        topic.utf8.forEach(add)
        add(isRetained ? 1 : 0)
        payload.forEach(add)
        return Int64(bitPattern: hash)
    }
}
