import BluetoothBackend
import BluetoothSupport
import Synchronization

/// A receiver that handles its events when the test says so.
final class TestSink<Event: Sendable>: EventSink {
    private enum Item: Sendable {
        case event(Event)
        case marker(@Sendable () -> Void)
    }

    private struct State: Sendable {
        var waiting: [Item] = []
        var handled: [Event] = []
        var hasDelivery = false
        var starts = 0
    }

    private struct Delivery: PendingDelivery {
        let sink: TestSink

        func start() { sink.state.withLock { $0.starts += 1 } }
        func run() { sink.drain() }
    }

    private let state = Lock(State())

    let label = "test"

    /// The number of times that the queue was scheduled.
    var starts: Int { state.withLock { $0.starts } }

    func deliver(_ event: Event) { append(event)?.start() }
    func append(_ event: Event) -> (any PendingDelivery)? { append(.event(event)) }
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { appendMarker(body)?.start() }
    func appendMarker(_ body: @escaping @Sendable () -> Void) -> (any PendingDelivery)? { append(.marker(body)) }

    private func append(_ item: Item) -> Delivery? {
        state.withLock { state in
            state.waiting.append(item)
            return exchange(&state.hasDelivery, with: true) ? nil : Delivery(sink: self)
        }
    }

    /// Handles all waiting events, and those that they cause.
    func drain() {
        while let item = next() {
            switch item {
            case .event(let event): state.withLock { $0.handled.append(event) }
            case .marker(let body): body()
            }
        }
    }

    private func next() -> Item? {
        state.withLock { state in
            if state.waiting.isEmpty { state.hasDelivery = false }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }

    /// Handles all waiting events, and returns those since the last call.
    func takeEvents() -> [Event] {
        drain()
        return state.withLock { exchange(&$0.handled, with: []) }
    }
}
