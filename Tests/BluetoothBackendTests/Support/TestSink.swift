import BluetoothBackend
import BluetoothSupport
import Synchronization

/// A receiver that handles events when the test says so.
final class TestSink<Event: Sendable>: EventSink {
    private enum Item: Sendable {
        case event(Event)
        case marker(@Sendable () -> Void)
    }

    private let waiting = Lock<[Item]>([])
    private let handled = Lock<[Event]>([])

    let label = "test"

    func deliver(_ event: Event) { waiting.withLock { $0.append(.event(event)) } }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(.marker(body)) } }

    /// Handles all waiting events, and their consequences.
    func drain() {
        while let item = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            switch item {
            case .event(let event): handled.withLock { $0.append(event) }
            case .marker(let body): body()
            }
        }
    }

    /// Handles all waiting events, and returns those since the last call.
    func takeEvents() -> [Event] {
        drain()
        return handled.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
