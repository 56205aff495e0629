package import Logging
import Mosquitto

/// A loop that puts messages into the queue, passes them to the client in order, and removes acknowledged ones.
///
/// Values that arrive while a transaction runs are written by the next one together. Acknowledged messages are removed
/// in the transaction that writes the next value, or, if none arrives for 0.2 seconds, in a separate one. After the end
/// of a process, whatever its reason, the next process sends all remaining messages again.
package actor Outbox {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    /// The time that an acknowledged message waits for a transaction that writes another.
    package static let removalDelay = Duration.milliseconds(200)

    private let store: MessageStore
    private let publish: @Sendable (StoredMessage) throws -> Int32
    private let window: Int
    private let metrics: GatewayMetrics
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// The messages that wait for the next transaction.
    private var waiting: [(message: OutgoingMessage, waiter: Waiter)] = []
    private var acknowledgedRows: [Int64] = []
    /// Ends after ``removalDelay``, and wakes the loop.
    private var removal: Task<Void, Never>?
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
    ///   - clock: The clock of ``removalDelay``.
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

    /// Puts a message into the queue; returns when the file contains it.
    ///
    /// - Throws: The error of the file, or ``OutboxClosed``.
    package func append(_ message: OutgoingMessage) async throws {
        guard !isClosed else { throw OutboxClosed() }
        try await withCheckedThrowingContinuation { waiter in
            waiting.append((message, waiter))
            signal.yield()
        }
    }

    /// Records whether the client is connected.
    package func setConnected(_ isConnected: Bool) {
        self.isConnected = isConnected
        signal.yield()
    }

    /// Records that the broker has acknowledged a message; packet identifiers of other messages are ignored.
    package func acknowledged(_ packet: Int32) {
        guard let row = inFlight.removeValue(forKey: packet) else { return }
        acknowledgedRows.append(row)
        metrics.add(.acknowledged)
        if hasMore { signal.yield() } else { removeLater() }
    }

    /// Refuses further messages; ``run()`` ends when the file contains all accepted ones.
    package func close() {
        isClosed = true
        signal.yield()
    }

    /// Whether the broker has acknowledged every message.
    package var isEmpty: Bool { count == 0 && waiting.isEmpty && acknowledgedRows.isEmpty }

    /// Whether messages wait for room in the client's window.
    private var hasMore: Bool { !loaded.isEmpty || lastLoaded < lastStored }

    private func removeLater() {
        guard removal == nil else { return }
        removal = Task {
            do { try await clock.sleep(for: Self.removalDelay) } catch { return }  // The loop has ended.
            removal = nil
            signal.yield()
        }
    }

    // MARK: The loop

    /// Moves messages until the end after ``close()``.
    ///
    /// It ignores cancellation, because accepted messages must be written.
    package func run() async {
        signal.yield()
        for await _ in signals {
            await commit()
            await handOver()
            if isClosed && waiting.isEmpty { break }
        }
        removal?.cancel()
    }

    private func commit() async {
        guard !waiting.isEmpty || !acknowledgedRows.isEmpty else { return }
        let (batch, rows) = (waiting, acknowledgedRows)
        (waiting, acknowledgedRows) = ([], [])
        do {
            let commit = try await store.commit(
                batch.map(\.message), removing: rows, loaded: lastLoaded)
            committed(commit, batch.count)
            if isFailing { logger.notice("the queue is written again") }
            isFailing = false
            for (_, waiter) in batch { waiter.resume() }
        } catch {
            if !isFailing { logger.error("the queue cannot be written", metadata: ["error": "\(error)"]) }
            isFailing = true
            for (_, waiter) in batch { waiter.resume(throwing: error) }
            // Removed with the next transaction; until then they are in the file, and the client has sent them.
            acknowledgedRows += rows
        }
    }

    private func committed(_ commit: MessageStore.Commit, _ appended: Int) {
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
                removeLater()
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
