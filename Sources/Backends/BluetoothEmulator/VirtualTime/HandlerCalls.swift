import BluetoothSupport
import DequeModule

/// The queued calls of asynchronous handlers; the calls of one sequence run one after the other.
final class HandlerCalls: Sendable {
    /// The number of calls of a sequence that wait before dispensable ones are dropped.
    static let limit = 10_000

    enum Place: Sendable {
        /// No other call of the sequence is under way.
        case first
        case waiting
        case dropped
    }

    private let waiting = Lock<[HandlerCall.Sequence: Deque<HandlerCall>]>([:])

    func add(_ call: HandlerCall) -> Place {
        waiting.withLock { waiting in
            guard let count = waiting[call.sequence]?.count else {
                waiting[call.sequence] = [call]
                return .first
            }
            guard count < Self.limit || !call.isDispensable else { return .dropped }
            waiting[call.sequence]?.append(call)
            return .waiting
        }
    }

    /// Removes the next call of a sequence; if no call waits, returns nil, and the next added call is the first.
    func next(of sequence: HandlerCall.Sequence) -> HandlerCall? {
        waiting.withLock { waiting in
            guard let call = waiting[sequence]?.popFirst() else {
                waiting[sequence] = nil
                return nil
            }
            return call
        }
    }
}
