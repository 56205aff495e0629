import Foundation
import GRDB
import GatewayCore
import Mosquitto
import Synchronization
import Testing

/// Files of the queue whose bytes have changed on the disk.
@Suite(.timeLimit(.minutes(2))) final class DamagedQueueTests {
    private let folder: URL
    private let log = RecordedLog()
    private var file: String { folder.appending(path: "queue.sqlite").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "queue-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(folder.path) remains: \(error)") }
    }

    private func open() throws -> MessageStore { try MessageStore(QueueSettings(file: file), logger: log.logger) }

    /// Writes a file with a number of messages.
    ///
    /// - Returns: The messages.
    private func write(_ count: Int) async throws -> [StoredMessage] {
        let store = try open()
        let messages = (1...count).map { number in
            OutgoingMessage("base/gateway/device/value", isRetained: true, MessageBody(value: .integer(Int64(number))))
        }
        let stored = try await store.commit(messages, removing: [], loaded: 0).inserted
        try await store.setAnnouncedTopics(["homeassistant/sensor/gateway_device/value/config"])
        try store.close()
        return stored
    }

    private func damaged(_ number: Int = 1) -> String { "\(file).damaged-\(number)" }

    private func size() throws -> UInt64 {
        let handle = try #require(FileHandle(forReadingAtPath: file))
        defer { handle.closeFile() }
        return try handle.seekToEnd()
    }

    /// Changes bytes of the file.
    private func change(at offset: UInt64, _ count: Int = 1, _ body: (UInt8) -> UInt8) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        defer { handle.closeFile() }
        try handle.seek(toOffset: offset)
        let bytes = try #require(try handle.read(upToCount: count))
        try handle.seek(toOffset: offset)
        try handle.write(contentsOf: Data(bytes.map(body)))
    }

    /// Returns all messages, as the outbox reads them.
    private func readAll(_ store: MessageStore) async throws -> [StoredMessage] {
        var (all, last): ([StoredMessage], Int64) = ([], 0)
        while true {
            let some = try await store.messages(after: last, limit: 5)
            guard let newest = some.last?.row else { return all }
            all += some
            last = newest
        }
    }

    /// A queue accepts messages after any such change, and delivers only messages that were written.
    @Test func oneFlippedBitNeitherEndsTheProcessNorChangesAMessage() async throws {
        let written = try await write(12)
        let original = try Data(contentsOf: URL(fileURLWithPath: file))
        var lost = 0
        for (index, offset) in stride(from: 0, to: original.count, by: 29).enumerated() {
            try original.write(to: URL(fileURLWithPath: file))
            try change(at: UInt64(offset)) { $0 ^ UInt8(1 << (index % 8)) }
            let store = try open()
            let read = try await readAll(store)
            let place = "bit \(index % 8) of byte \(offset)"
            #expect(read.allSatisfy(written.contains), "\(place)")
            if read.count < written.count {
                lost += 1
                #expect(FileManager.default.fileExists(atPath: damaged()), "\(place)")
            }
            let body = MessageBody(value: .integer(99))
            let commit = try await store.commit(
                [OutgoingMessage("topic", isRetained: false, body)], removing: read.map(\.row), loaded: 0)
            #expect(commit.count == 1, "\(place)")
            #expect(commit.inserted.allSatisfy { $0.row > read.last?.row ?? 0 }, "\(place)")
            _ = try await store.announcedTopics()
            try store.close()
            if FileManager.default.fileExists(atPath: damaged()) {
                try FileManager.default.removeItem(atPath: damaged())
            }
        }
        #expect(lost > 0)
    }

    @Test func aPageThatCannotBeReadCostsItsOwnMessagesAlone() async throws {
        let written = try await write(400)
        let pages = try size() / 4096
        try change(at: pages / 2 * 4096, 4096) { _ in 0xA5 }
        let store = try open()
        let read = try await readAll(store)
        #expect(read.allSatisfy(written.contains))
        #expect(read.first == written.first && read.last == written.last, "\(log.lines)")
        #expect(read.count < 400 && read.count > 400 - 50)
        let line = try #require(log.lines.first { $0.hasPrefix("error the file of the queue is damaged") })
        #expect(line.contains("renamed=\(damaged())") && line.contains("read=\(read.count)"))
        #expect(FileManager.default.fileExists(atPath: damaged()))
        try store.close()
    }

    /// The structure of the file is intact, so the damage is found when the message is read.
    @Test func aMessageThatTheDiskChangedIsLeftOutWhileTheQueueRuns() async throws {
        let written = try await write(20)
        let content = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(content.range(of: written[7].payload))
        try change(at: UInt64(place.lowerBound + 8)) { $0 ^ 1 }
        let store = try open()
        #expect(log.lines.isEmpty)
        #expect(try await readAll(store) == written.filter { $0.row != written[7].row })
        #expect(log.lines.count == 1)
        #expect(store.state.count == 19)
        let next = try await store.commit(
            [OutgoingMessage("topic", isRetained: false, MessageBody(error: nil))], removing: [], loaded: 0)
        #expect(next.inserted.map(\.row) == [21])
        #expect(try await store.announcedTopics() == ["homeassistant/sensor/gateway_device/value/config"])
        try store.close()
    }

    /// A bit of the row's header can make SQLite read the columns differently, and the checksum as null.
    @Test func aMessageWithoutItsChecksumIsLeftOut() async throws {
        let written = try await write(20)
        let content = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(content.range(of: written[7].payload))
        // The header ends with the type of the checksum, and the topic follows.
        try change(at: UInt64(place.lowerBound - written[7].topic.utf8.count - 1)) { _ in 0 }
        let store = try open()
        #expect(try await readAll(store) == written.filter { $0.row != written[7].row })
        #expect(log.lines.count == 1)
        try store.close()
    }

    @Test func aFileThatIsNoDatabaseIsRenamedAndNoMoreThanEightAreKept() async throws {
        for _ in 0..<10 {
            try Data("no database".utf8).write(to: URL(fileURLWithPath: file))
            let store = try open()
            #expect(store.state.count == 0)
            try store.close()
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count { $0.contains(".damaged-") && !$0.hasSuffix("-wal") } == 8)
        #expect(log.lines.count { $0.contains("is damaged") } == 10)
    }

    @Test func aFileOfAnEarlierVersionIsReadWithoutChecksums() async throws {
        let old = try DatabaseQueue(path: file)
        try await old.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE message (
                      row INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL,
                      retained INTEGER NOT NULL);
                    INSERT INTO message VALUES (5, 'topic', x'7B7D', 1);
                    """)
        }
        try old.close()
        let store = try open()
        #expect(try await readAll(store).map(\.row) == [5])
        #expect(log.lines.isEmpty)
        try store.close()
    }

    @Test(.enabled(if: hasBroker, "mosquitto is not installed"))
    func aGatewayDeliversWhatItCanReadOfADamagedFile() async throws {
        let fixture = try Fixture(devices: 1)
        let settings = try fixture.configuration().queue
        let store = try MessageStore(settings, logger: log.logger)
        let waiting = (1...300).map { number in
            OutgoingMessage("bluetooth/test/old/value", isRetained: false, MessageBody(value: .integer(Int64(number))))
        }
        _ = try await store.commit(waiting, removing: [], loaded: 0)
        try store.close()
        let content = try Data(contentsOf: URL(fileURLWithPath: settings.file))
        let handle = try #require(FileHandle(forUpdatingAtPath: settings.file))
        try handle.seek(toOffset: UInt64(content.count / 4096 / 2 * 4096))
        try handle.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try handle.close()
        try await fixture.listening { [log] in
            try await fixture.running(logger: log.logger) { _ in
                try await fixture.listener.first("bluetooth/test/old/value") { (try? Content($0).number) == 300 }
                try await fixture.values(3)
            }
            #expect(fixture.listener.messages(of: "bluetooth/test/old/value").count > 200)
        }
        #expect(log.lines.contains { $0.contains("renamed=\(settings.file).damaged-1") })
    }
}
