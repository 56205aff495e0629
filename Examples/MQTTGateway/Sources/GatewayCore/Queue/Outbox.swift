package import Logging
import Mosquitto

/// A loop that puts messages into the queue, passes them to the client in order, and removes acknowledged ones.
///
/// Messages share transactions: a transaction begins ``interval`` after the last one, or at once if that time has passed
/// already, if ``batchLimit`` messages wait, or if a caller waits for the file. It writes all waiting messages, and
/// removes all acknowledged ones. After the end of a process, whatever its reason, the next process sends all messages
/// of the file again.
package actor Outbox {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    /// The time between the beginnings of two transactions.
    package static let interval = Duration.milliseconds(200)
    /// The number of accepted messages that may wait for a transaction.
    package static let batchLimit = 256

    private let store: MessageStore
    private let publish: @Sendable (StoredMessage) throws -> Int32
    private let window: Int
    private let metrics: GatewayMetrics
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// The messages that wait for the next transaction, and the callers that wait for its end.
    private var waiting: [OutgoingMessage] = []
    private var waiters: [Waiter] = []
    private var acknowledgedRows: [Int64] = []
    /// The callers that wait because ``batchLimit`` messages do.
    private var delayed: [CheckedContinuation<Void, Never>] = []
    /// Whether a transaction with messages runs.
    private var isWriting = false
    /// Begins with a transaction, ends after ``interval``, and wakes the loop.
    private var pause: Task<Void, Never>?
    /// The messages that were read from the queue, or just put into it, and not yet passed to the client; the last such
    /// row.
    private var loaded: [StoredMessage] = []
    private var lastLoaded: Int64 = 0
    private var lastStored: Int64
    private var count: Int
    /// The rows of the messages that the client has, by packet identifier.
    private var inFlight: [Int32: Int64] = [:]
    private var isConnected = false
    private var isClosed = false
    /// Whether the queue is full, which is logged once.
    private var isFull = false
    /// Whether the last attempt to write or read the file failed, which is logged once.
    private var isFailing = false
    private var isUnreadable = false

    /// - Parameters:
    ///   - window: The number of messages that the client has at a time.
    ///   - clock: The clock of ``interval``.
    ///   - publish: Passes a message to the client, and returns its packet identifier.
    package init(
        _ store: MessageStore, window: Int, metrics: GatewayMetrics, clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger, publish: @escaping @Sendable (StoredMessage) throws -> Int32
    ) throws {
        self.store = store
        self.window = window
        self.metrics = metrics
        self.clock = clock
        self.logger = logger
        self.publish = publish
        (count, lastStored) = store.state
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        metrics.setQueueRows(count)
    }

    // MARK: Inputs

    /// Accepts a message: the file contains it after ``interval`` and a transaction, unless the process ends before.
    ///
    /// Waits, and counts this, while ``batchLimit`` messages wait.
    ///
    /// - Throws: ``OutboxClosed``.
    package func accept(_ message: OutgoingMessage) async throws {
        if waiting.count >= Self.batchLimit { metrics.add(.delayed) }
        while waiting.count >= Self.batchLimit, !isClosed { await withCheckedContinuation { delayed.append($0) } }
        guard !isClosed else { throw OutboxClosed() }
        waiting.append(message)
        if isDue { signal.yield() }
    }

    /// Puts a message into the queue, at once; returns when the file contains it.
    ///
    /// - Throws: The error of the file, or ``OutboxClosed``.
    package func append(_ message: OutgoingMessage) async throws {
        guard !isClosed else { throw OutboxClosed() }
        try await withCheckedThrowingContinuation { waiter in
            waiting.append(message)
            waiters.append(waiter)
            signal.yield()
        }
    }

    /// Records whether the client is connected.
    package func setConnected(_ isConnected: Bool) {
        self.isConnected = isConnected
        signal.yield()
    }

    /// Records that the broker has acknowledged messages; packet identifiers of other messages are ignored.
    package func acknowledged(_ packets: [Int32]) {
        let rows = packets.compactMap { inFlight.removeValue(forKey: $0) }
        guard !rows.isEmpty else { return }
        acknowledgedRows += rows
        metrics.add(.acknowledged, rows.count)
        if hasMore || isDue { signal.yield() }
    }

    /// Refuses further messages; ``run()`` ends when the file contains all accepted ones.
    package func close() {
        isClosed = true
        signal.yield()
    }

    /// Whether the broker has acknowledged every message.
    package var isEmpty: Bool { count == 0 && waiting.isEmpty && !isWriting && acknowledgedRows.isEmpty }

    /// Whether messages wait for room in the client's window.
    private var hasMore: Bool { !loaded.isEmpty || lastLoaded < lastStored }

    /// Whether a transaction does not wait for the end of the pause.
    private var isDue: Bool { pause == nil || !waiters.isEmpty || waiting.count >= Self.batchLimit || isClosed }

    // MARK: The loop

    /// Moves messages until the end after ``close()``.
    ///
    /// It ignores cancellation, because accepted messages must be written.
    package func run() async {
        signal.yield()
        for await _ in signals {
            if isDue { await commit() }
            await handOver()
            if isClosed && waiting.isEmpty { break }
        }
        pause?.cancel()
        resumeDelayed()
    }

    private func commit() async {
        guard !waiting.isEmpty || !acknowledgedRows.isEmpty else { return }
        beginPause()
        let (batch, waiters, rows) = (waiting, waiters, acknowledgedRows)
        (waiting, self.waiters, acknowledgedRows, isWriting) = ([], [], [], true)
        resumeDelayed()
        do {
            committed(try await store.commit(batch, removing: rows, loaded: lastLoaded), batch.count)
            if isFailing { logger.notice("the queue is written again") }
            isFailing = false
            for waiter in waiters { waiter.resume() }
        } catch {
            if !isFailing { logger.error("the queue cannot be written", metadata: ["error": "\(error)"]) }
            isFailing = true
            // The waiting callers count their messages themselves.
            metrics.add(.droppedUnwritten, batch.count - waiters.count)
            for waiter in waiters { waiter.resume(throwing: error) }
            // Removed with the next transaction; until then they are in the file, and the client has sent them.
            acknowledgedRows += rows
            beginPause()
        }
        isWriting = false
    }

    private func beginPause() {
        guard pause == nil else { return }
        pause = Task {
            do { try await clock.sleep(for: Self.interval) } catch { return }  // The loop has ended.
            pause = nil
            if !waiting.isEmpty || !acknowledgedRows.isEmpty { signal.yield() }
        }
    }

    private func resumeDelayed() {
        for caller in delayed { caller.resume() }
        delayed = []
    }

    private func committed(_ commit: MessageStore.Commit, _ appended: Int) {
        metrics.add(.transactions)
        // No older message waits in the file: the client gets these messages without another read.
        let isCaughtUp = lastLoaded == lastStored
        lastStored += Int64(appended)
        if isCaughtUp, commit.dropped == 0, loaded.count + appended <= window {
            loaded += commit.inserted
            lastLoaded = lastStored
        }
        count = commit.count
        metrics.setQueueRows(count)
        metrics.add(.droppedFullQueue, commit.dropped)
        if commit.dropped > 0, !isFull {
            isFull = true
            logger.warning(
                "the queue is full: the oldest messages are dropped", metadata: ["rows": "\(store.limit)"])
        } else if isFull, count < store.limit {
            isFull = false
            logger.notice("the queue has room again", metadata: ["rows": "\(count)"])
        }
    }

    private func handOver() async {
        while isConnected, inFlight.count < window {
            if loaded.isEmpty {
                guard lastLoaded < lastStored, await load() else { return }
            }
            let message = loaded.removeFirst()
            do {
                inFlight[try publish(message)] = message.row
                metrics.add(.published)
            } catch let error as MosquittoError where error.isOfTheMessage {
                // No later attempt would succeed, and the messages behind it would wait.
                logger.error(
                    "a message is refused, and dropped", metadata: ["topic": "\(message.topic)", "error": "\(error)"])
                metrics.add(.droppedRefused)
                acknowledgedRows.append(message.row)
                beginPause()
            } catch {
                loaded.insert(message, at: 0)
                logger.error(
                    "a message cannot be published", metadata: ["topic": "\(message.topic)", "error": "\(error)"])
                return
            }
        }
    }

    /// Reads the next messages from the file.
    ///
    /// - Returns: Whether the file contained any.
    private func load() async -> Bool {
        do {
            let last = lastStored
            loaded = try await store.messages(after: lastLoaded, limit: window)
            lastLoaded = loaded.last?.row ?? last
            isUnreadable = false
            return !loaded.isEmpty
        } catch {
            if !isUnreadable { logger.error("the queue cannot be read", metadata: ["error": "\(error)"]) }
            isUnreadable = true
            return false
        }
    }
}

/// The gateway is stopping, and takes no further messages.
package struct OutboxClosed: Error, CustomStringConvertible {
    package var description: String { "the gateway is stopping" }
}
