import DequeModule
import HeapModule

/// Events and inputs, ordered by (instant, order of scheduling).
///
/// Events wait in a heap. Work that is due at once waits in a separate list, which needs no heap operation. Both take
/// their sequence numbers from one counter, so the order is that of a single heap.
struct EventQueue<Event: Sendable, Input: Sendable>: Sendable {
    /// Identifies a scheduled event, for its cancellation.
    struct Token: Hashable, Sendable {
        fileprivate let sequence: UInt64
    }

    enum Work: Sendable {
        case event(Event)
        case input(Input)
    }

    private struct Entry: Comparable, Sendable {
        let due: Nanoseconds
        let sequence: UInt64
        let isPeriodic: Bool
        let event: Event

        static func < (left: Entry, right: Entry) -> Bool {
            left.due != right.due ? left.due < right.due : left.sequence < right.sequence
        }
        static func == (left: Entry, right: Entry) -> Bool { left.sequence == right.sequence }
    }

    private(set) var now: Nanoseconds = 0
    private var heap = Heap<Entry>()
    private var line = Deque<(sequence: UInt64, work: Work)>()
    private var cancelled: Set<UInt64> = []
    private var sequence: UInt64 = 0
    private var oneShots = 0

    /// Whether only periodic events are pending.
    var isIdle: Bool { line.isEmpty && oneShots == 0 }

    var hasWorkNow: Bool {
        mutating get { !line.isEmpty || nextDue.map { $0 <= now } ?? false }
    }

    var nextDue: Nanoseconds? {
        mutating get {
            if !line.isEmpty { return now }
            dropCancelled()
            return heap.min?.due
        }
    }

    /// Enqueues an input, due now.
    mutating func enqueue(_ input: Input) {
        line.append((takeNumber(), .input(input)))
    }

    /// Schedules an event.
    ///
    /// Periodic events do not keep the world from being idle.
    mutating func schedule(_ event: Event, at due: Nanoseconds, isPeriodic: Bool = false) {
        if due <= now {
            line.append((takeNumber(), .event(event)))
        } else {
            insert(event, at: due, isPeriodic: isPeriodic)
        }
    }

    /// Schedules a one-shot event that can be cancelled until it happens.
    mutating func scheduleCancellable(_ event: Event, at due: Nanoseconds) -> Token {
        insert(event, at: max(due, now), isPeriodic: false)
        return Token(sequence: sequence)
    }

    private mutating func insert(_ event: Event, at due: Nanoseconds, isPeriodic: Bool) {
        heap.insert(Entry(due: due, sequence: takeNumber(), isPeriodic: isPeriodic, event: event))
        if !isPeriodic { oneShots += 1 }
    }

    /// Cancels an event from ``scheduleCancellable(_:at:)`` that has not happened.
    mutating func cancel(_ token: Token) {
        if cancelled.insert(token.sequence).inserted { oneShots -= 1 }
    }

    /// Removes the next work due no later than `limit`, and moves ``now`` to its instant, or to `limit` if no work is
    /// due.
    mutating func next(until limit: Nanoseconds) -> Work? {
        if !line.isEmpty, heap.isEmpty || isLineFirst() {
            return line.popFirst()?.work
        }
        dropCancelled()
        guard let first = heap.min, first.due <= limit, let entry = heap.popMin() else {
            now = max(now, limit)
            return nil
        }
        now = max(now, entry.due)
        if !entry.isPeriodic { oneShots -= 1 }
        return .event(entry.event)
    }

    private mutating func isLineFirst() -> Bool {
        dropCancelled()
        guard let first = heap.min, first.due <= now, let waiting = line.first else { return true }
        return waiting.sequence < first.sequence
    }

    private mutating func dropCancelled() {
        guard !cancelled.isEmpty else { return }
        while let first = heap.min, cancelled.remove(first.sequence) != nil { heap.removeMin() }
    }

    private mutating func takeNumber() -> UInt64 {
        sequence += 1
        return sequence
    }
}

/// A time of the world in nanoseconds, since its beginning or between two instants.
///
/// A 64-bit integer, which lasts 292 years, compares in one instruction; `Duration` takes two words.
typealias Nanoseconds = Int64
