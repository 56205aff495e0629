import Foundation
import GatewayCore
import Logging
import Mosquitto
import Synchronization
import Testing

/// The queue and its loop, with a client that the test scripts.
@Suite(.timeLimit(.minutes(1))) struct OutboxTests {
    /// The messages that the client received.
    private final class Client: Sendable {
        let rows = Mutex<[StoredMessage]>([])

        /// Refuses a topic with a wildcard, as libmosquitto does.
        func publish(_ message: StoredMessage) throws -> Int32 {
            guard !message.topic.contains("+") else { throw MosquittoError("refused", isOfTheMessage: true) }
            return rows.withLock { rows in
                rows.append(message)
                return Int32(message.row)
            }
        }

        var published: [Int64] { rows.withLock { $0.map(\.row) } }
    }

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let file = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString).sqlite").path

    /// Runs a queue on the file, closes it, and returns the messages that the client received.
    private func run(
        rows: Int = 100, window: Int = 10, metrics: GatewayMetrics = GatewayMetrics(),
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger = logger, _ body: (Outbox) async throws -> Void
    ) async throws -> [StoredMessage] {
        let client = Client()
        let store = try MessageStore(QueueSettings(file: file, rows: rows), logger: Self.logger)
        let outbox = try Outbox(store, window: window, metrics: metrics, clock: clock, logger: logger) {
            try client.publish($0)
        }
        let loop = Task { await outbox.run() }
        try await body(outbox)
        await outbox.close()
        await loop.value
        try store.close()
        return client.rows.withLock(\.self)
    }

    private func message(_ number: Int) -> OutgoingMessage {
        OutgoingMessage("topic", isRetained: true, MessageBody(value: .integer(Int64(number))))
    }

    private func append(_ numbers: ClosedRange<Int>, to outbox: Outbox) async throws {
        for number in numbers { try await outbox.append(message(number)) }
    }

    private func accept(_ numbers: ClosedRange<Int>, to outbox: Outbox) async throws {
        for number in numbers { try await outbox.accept(message(number)) }
    }

    /// Waits for a condition; the time limit of the suite ends the wait.
    private func until(_ condition: () -> Bool) async throws {
        while !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func whatIsNotAcknowledgedIsSentAgainByTheNextProcessWithItsIdentifier() async throws {
        let first = try await run { outbox in
            await outbox.setConnected(true)
            try await append(1...4, to: outbox)
            await outbox.acknowledged([1])
            await outbox.acknowledged([3])
        }
        #expect(first.map(\.row) == [1, 2, 3, 4])
        let second = try await run { await $0.setConnected(true) }
        #expect(second == [first[1], first[3]])
    }

    @Test func whatIsAcknowledgedIsRemovedWithTheNextMessage() async throws {
        let (clock, metrics) = (ManualClock(), GatewayMetrics())
        _ = try await run(metrics: metrics, clock: clock) { outbox in
            await outbox.setConnected(true)
            try await append(1...1, to: outbox)
            await outbox.acknowledged([1])
            #expect(metrics.queueRows == 1)
            try await append(2...2, to: outbox)
            #expect(metrics.queueRows == 1)
        }
    }

    @Test func whatIsAcknowledgedIsRemovedAloneWhenNoMessageFollows() async throws {
        let (clock, metrics) = (ManualClock(), GatewayMetrics())
        _ = try await run(metrics: metrics, clock: clock) { outbox in
            await outbox.setConnected(true)
            try await append(1...2, to: outbox)
            for packet: Int32 in 1...2 {
                await outbox.acknowledged([packet])
                await clock.waitForSleep()
                #expect(await !outbox.isEmpty)
                clock.endSleep()
                try await until { metrics.queueRows == 2 - Int(packet) }
            }
            #expect(await outbox.isEmpty)
        }
    }

    // MARK: Transactions

    @Test func messagesThatAreAcceptedInOneIntervalShareATransaction() async throws {
        let (clock, metrics) = (ManualClock(), GatewayMetrics())
        _ = try await run(metrics: metrics, clock: clock) { outbox in
            // No transaction was before: the first message is written at once.
            try await accept(1...1, to: outbox)
            await clock.waitForSleep()
            try await until { metrics.queueRows == 1 }
            try await accept(2...9, to: outbox)
            #expect(metrics.count(.transactions) == 1)
            clock.endSleep()
            try await until { metrics.queueRows == 9 }
            #expect(metrics.count(.transactions) == 2)
        }
        #expect(metrics.count(.transactions) == 2)
    }

    @Test func whatIsAcknowledgedInTheIntervalIsRemovedByItsTransaction() async throws {
        let (clock, metrics) = (ManualClock(), GatewayMetrics())
        _ = try await run(metrics: metrics, clock: clock) { outbox in
            await outbox.setConnected(true)
            try await append(1...3, to: outbox)
            await clock.waitForSleep()
            await outbox.acknowledged([1, 3])
            try await accept(4...4, to: outbox)
            clock.endSleep()
            try await until { metrics.queueRows == 2 }
            #expect(metrics.count(.transactions) == 4)
        }
    }

    @Test func aMessageThatACallerWaitsForIsWrittenBeforeTheEndOfTheInterval() async throws {
        let (clock, metrics) = (ManualClock(), GatewayMetrics())
        _ = try await run(metrics: metrics, clock: clock) { outbox in
            try await append(1...1, to: outbox)
            await clock.waitForSleep()
            try await accept(2...3, to: outbox)
            try await append(4...4, to: outbox)
            #expect(metrics.queueRows == 4)
            #expect(metrics.count(.transactions) == 2)
        }
    }

    @Test func aFullBatchIsWrittenBeforeTheEndOfTheInterval() async throws {
        let (clock, metrics) = (ManualClock(), GatewayMetrics())
        _ = try await run(rows: 1_000, metrics: metrics, clock: clock) { outbox in
            try await append(1...1, to: outbox)
            await clock.waitForSleep()
            try await accept(1...Outbox.batchLimit, to: outbox)
            try await until { metrics.queueRows == 1 + Outbox.batchLimit }
            #expect(metrics.count(.transactions) == 2)
        }
    }

    @Test func aValueWaitsWhileAFullBatchDoesAndIsCounted() async throws {
        let metrics = GatewayMetrics()
        let store = try MessageStore(QueueSettings(file: file, rows: 1_000), logger: Self.logger)
        let outbox = try Outbox(store, window: 1, metrics: metrics, logger: Self.logger) { _ in 1 }
        try await accept(1...Outbox.batchLimit, to: outbox)
        #expect(metrics.count(.delayed) == 0)
        let late = Task { try await outbox.accept(message(0)) }
        try await until { metrics.count(.delayed) == 1 }
        let loop = Task { await outbox.run() }
        try await late.value
        await outbox.close()
        await loop.value
        #expect(store.state.count == 1 + Outbox.batchLimit)
        try store.close()
    }

    @Test func acceptedMessagesAreWrittenWhenTheQueueIsClosed() async throws {
        _ = try await run(clock: ManualClock()) { try await accept(1...5, to: $0) }
        let rest = try await run { await $0.setConnected(true) }
        #expect(rest.map(\.row) == [1, 2, 3, 4, 5])
    }

    @Test func acceptedMessagesOfAFailedTransactionAreCounted() async throws {
        let (metrics, log) = (GatewayMetrics(), RecordedLog())
        let store = try MessageStore(QueueSettings(file: file), logger: Self.logger)
        let outbox = try Outbox(store, window: 1, metrics: metrics, logger: log.logger) { _ in 1 }
        try store.close()
        try await accept(1...3, to: outbox)
        let loop = Task { await outbox.run() }
        try await until { metrics.count(.droppedUnwritten) == 3 }
        await #expect(throws: (any Error).self) { try await outbox.append(message(4)) }
        await outbox.close()
        await loop.value
        #expect(metrics.count(.droppedUnwritten) == 3)
        #expect(log.lines.count == 1)
    }

    // MARK: Limits

    @Test func noMoreMessagesAreUnderWayThanTheWindow() async throws {
        let all = try await run(window: 3) { outbox in
            await outbox.setConnected(true)
            try await append(1...10, to: outbox)
            await outbox.acknowledged([1])
        }
        #expect(all.map(\.row) == [1, 2, 3, 4])
    }

    @Test func aFullQueueDropsItsOldestMessagesAndCountsThem() async throws {
        let metrics = GatewayMetrics()
        _ = try await run(rows: 5, metrics: metrics) { outbox in try await append(1...3, to: outbox) }
        // The first process loaded its messages; the next one has loaded none when the queue gets full.
        let all = try await run(rows: 5, window: 1, metrics: metrics) { outbox in
            try await append(4...12, to: outbox)
        }
        #expect(all.isEmpty)
        #expect(metrics.count(.droppedFullQueue) == 7)
        #expect(metrics.queueRows == 5)
        let rest = try await run { await $0.setConnected(true) }
        #expect(rest.map(\.row) == [8, 9, 10, 11, 12])
    }

    @Test func aMessageThatNoBrokerTakesDoesNotHoldUpTheOthers() async throws {
        let (metrics, log) = (GatewayMetrics(), RecordedLog())
        let all = try await run(metrics: metrics, logger: log.logger) { outbox in
            await outbox.setConnected(true)
            try await append(1...1, to: outbox)
            try await outbox.append(OutgoingMessage("a/+/b", isRetained: false, MessageBody(error: nil)))
            try await append(3...3, to: outbox)
        }
        #expect(all.map(\.row) == [1, 3])
        #expect(metrics.count(.droppedRefused) == 1)
        #expect(log.lines == ["error a message is refused, and dropped error=refused topic=a/+/b"])
    }

    @Test func aRowIsNeverUsedForAnotherMessage() async throws {
        _ = try await run { outbox in
            await outbox.setConnected(true)
            try await append(1...2, to: outbox)
            await outbox.acknowledged([1, 2])
        }
        let second = try await run { outbox in
            await outbox.setConnected(true)
            try await append(3...3, to: outbox)
        }
        #expect(second.map(\.row) == [3])
    }

    @Test func aSecondProcessCannotOpenTheFile() throws {
        let store = try MessageStore(QueueSettings(file: file), logger: Self.logger)
        #expect(throws: (any Error).self) { try MessageStore(QueueSettings(file: file), logger: Self.logger) }
        try store.close()
    }

    @Test func aClosedQueueTakesNothing() async throws {
        let store = try MessageStore(QueueSettings(file: file), logger: Self.logger)
        let outbox = try Outbox(store, window: 1, metrics: GatewayMetrics(), logger: Self.logger) { _ in 1 }
        await outbox.close()
        await #expect(throws: OutboxClosed.self) {
            try await outbox.append(message(1))
        }
        await #expect(throws: OutboxClosed.self) { try await outbox.accept(message(2)) }
        try store.close()
    }
}

/// A clock whose sleeps, one at a time, end when the test ends them.
private struct ManualClock: Clock {
    let now = ContinuousClock.now
    let minimumResolution = Duration.zero
    private let begun = AsyncStream<Void>.makeStream()
    private let ended = AsyncStream<Void>.makeStream()

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        begun.continuation.yield()
        for await _ in ended.stream { return }
        throw CancellationError()
    }

    func waitForSleep() async { for await _ in begun.stream { return } }
    func endSleep() { ended.continuation.yield() }
}
