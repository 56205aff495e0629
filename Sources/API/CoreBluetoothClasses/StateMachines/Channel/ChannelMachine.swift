import BluetoothBackend
import DequeModule
import FoundationEssentials

/// The state of an L2CAP channel: received bytes, credits, and the pending events of its two streams.
///
/// Pure: calls of the streams and events of the backend go in, effects come out.
struct ChannelMachine {
    enum Side: CaseIterable, Sendable {
        case input, output
    }

    /// The status of a stream; `Stream.Status` without the states that end at once.
    enum Phase: Sendable {
        case notOpen, open, atEnd, closed, failed
    }

    enum Notice: Sendable {
        case opened, ready, failed, ended
    }

    enum Effect: Equatable, Sendable {
        case submit(ChannelCommand)
        /// A stream has a new event for its delegate.
        case notify(Side)
    }

    enum Transfer: Equatable, Sendable {
        /// The number of bytes; 0 at the end of the stream.
        case bytes(Int)
        /// Nothing can be moved yet.
        case wait
        /// The stream is not open, or broken.
        case failed
    }

    /// The number of read bytes that one command reports, unless the buffer is empty.
    private static let consumedAtOnce = 4096

    private var received = ByteQueue()
    private var unreported = 0
    private var credits: Int
    private var phases: [Side: Phase] = [.input: .notOpen, .output: .notOpen]
    private var owed: [Side: Set<Notice>] = [:]
    /// Whether the backend's channel is closed.
    private var isEnded = false

    /// Creates the machine of an open channel, with the number of bytes that may be sent at first.
    init(credits: Int) { self.credits = max(0, credits) }

    // MARK: Queries

    /// Returns the status of a stream: without its channel it is at its end, the input once its bytes are read (S153).
    func phase(of side: Side) -> Phase {
        let phase = phases[side] ?? .notOpen
        guard phase == .open, isEnded, side == .output || received.isEmpty else { return phase }
        return .atEnd
    }

    /// Whether a read or a write would move bytes now.
    func isReady(_ side: Side) -> Bool {
        guard phase(of: side) == .open else { return false }
        return side == .input ? !received.isEmpty : credits > 0
    }

    func owesNotice(_ side: Side) -> Bool { owed[side]?.isEmpty == false }

    mutating func nextNotice(_ side: Side) -> Notice? {
        for notice in [Notice.opened, .ready, .failed, .ended] where owed[side]?.remove(notice) != nil {
            // Bytes or room may have been used since.
            if notice == .ready && !isReady(side) { continue }
            return notice
        }
        return nil
    }

    // MARK: Calls of the streams

    mutating func open(_ side: Side) -> [Effect] {
        guard phases[side] == .notOpen else { return [] }
        phases[side] = .open
        return owe(.opened, side) + oweState(of: side)
    }

    /// Closes a stream; when both streams are closed, the channel is closed.
    mutating func close(_ side: Side) -> [Effect] {
        guard phases[side] != .closed else { return [] }
        phases[side] = .closed
        owed[side] = nil
        if side == .input { received.removeAll() }
        guard phases.values.allSatisfy({ $0 == .closed }) else { return [] }
        return end()
    }

    /// Closes the channel, because its object is gone (S151).
    mutating func release() -> [Effect] {
        received.removeAll()
        return shutDown()
    }

    /// Closes the channel from this side; received bytes can still be read (S154).
    mutating func shutDown() -> [Effect] {
        let effects = end()
        return effects + Side.allCases.flatMap { oweState(of: $0) }
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> (Transfer, [Effect]) {
        switch phase(of: .input) {
        case .notOpen, .closed, .failed: return (.failed, [])
        case .atEnd: return (.bytes(0), [])
        case .open: break
        }
        guard !buffer.isEmpty else { return (.bytes(0), []) }
        let count = received.read(into: buffer)
        guard count > 0 else { return (.wait, []) }
        unreported += count
        return (.bytes(count), reportConsumed() + oweState(of: .input))
    }

    /// Sends as many of the bytes as the credits allow (S152).
    mutating func write(_ bytes: UnsafeRawBufferPointer) -> (Transfer, [Effect]) {
        switch phase(of: .output) {
        case .notOpen, .closed, .failed: return (.failed, [])
        case .atEnd:
            phases[.output] = .failed
            return (.failed, owe(.failed, .output))
        case .open: break
        }
        guard !bytes.isEmpty else { return (.bytes(0), []) }
        guard credits > 0 else { return (.wait, []) }
        let data = Data(bytes.prefix(credits))
        credits -= data.count
        return (.bytes(data.count), [.submit(.send(data))] + oweState(of: .output))
    }

    // MARK: Events of the backend

    /// Appends received bytes.
    ///
    /// The bytes of a closed input are dropped, and the peer gets no credits for more.
    mutating func receive(_ data: Data) -> [Effect] {
        guard !isEnded, phases[.input] != .closed, !data.isEmpty else { return [] }
        received.append(data)
        return oweState(of: .input)
    }

    mutating func grant(_ count: Int) -> [Effect] {
        let wasReady = isReady(.output)
        let (sum, overflow) = credits.addingReportingOverflow(max(0, count))
        credits = overflow ? Int.max : sum
        return wasReady ? [] : oweState(of: .output)
    }

    /// Ends the channel, because the peer closed it or its link is over.
    mutating func endRemotely() -> [Effect] {
        guard !isEnded else { return [] }
        isEnded = true
        return Side.allCases.flatMap { oweState(of: $0) }
    }

    // MARK: Steps

    private mutating func end() -> [Effect] {
        guard !isEnded else { return [] }
        isEnded = true
        return [.submit(.close)]
    }

    private mutating func reportConsumed() -> [Effect] {
        guard !isEnded, received.isEmpty || unreported >= Self.consumedAtOnce else { return [] }
        defer { unreported = 0 }
        return [.submit(.consumed(unreported))]
    }

    /// Schedules the event that the stream's state calls for.
    private mutating func oweState(of side: Side) -> [Effect] {
        switch phase(of: side) {
        case .open: isReady(side) ? owe(.ready, side) : []
        case .atEnd: owe(.ended, side)
        case .notOpen, .closed, .failed: []
        }
    }

    private mutating func owe(_ notice: Notice, _ side: Side) -> [Effect] {
        guard owed[side, default: []].insert(notice).inserted else { return [] }
        return [.notify(side)]
    }
}

/// Bytes in the order of their arrival; the boundaries between arrivals are not kept (S152).
struct ByteQueue {
    private var chunks = Deque<Data>()
    private var taken = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ data: Data) {
        guard !data.isEmpty else { return }
        chunks.append(data)
        count += data.count
    }

    /// Moves as many bytes as possible from the front to `buffer`.
    ///
    /// - Returns: The number of bytes.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count, let chunk = chunks.first {
            let part = chunk.dropFirst(taken).prefix(buffer.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(from: part)
            filled += part.count
            taken += part.count
            guard taken == chunk.count else { break }
            chunks.removeFirst()
            taken = 0
        }
        count -= filled
        return filled
    }

    mutating func removeAll() {
        self = ByteQueue()
    }
}
