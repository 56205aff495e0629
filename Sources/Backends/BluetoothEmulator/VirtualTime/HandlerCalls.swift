import BluetoothSupport
import DequeModule

/// The queued calls of asynchronous handlers; the calls of one device run one after the other.
final class HandlerCalls: Sendable {
    /// The number of a device's calls that wait before dispensable ones are dropped.
    static let limit = 10_000

    enum Place: Sendable {
        /// No other call of the device is under way.
        case first
        case waiting
        case dropped
    }

    private let waiting = Lock<[Ref<Device>: Deque<HandlerCall>]>([:])

    func add(_ call: HandlerCall) -> Place {
        waiting.withLock { waiting in
            guard let count = waiting[call.device]?.count else {
                waiting[call.device] = [call]
                return .first
            }
            guard count < Self.limit || !call.isDispensable else { return .dropped }
            waiting[call.device]?.append(call)
            return .waiting
        }
    }

    /// Removes the next call of a device; if no call waits, returns nil, and the next added call is the first.
    func next(of device: Ref<Device>) -> HandlerCall? {
        waiting.withLock { waiting in
            guard let call = waiting[device]?.popFirst() else {
                waiting[device] = nil
                return nil
            }
            return call
        }
    }
}
