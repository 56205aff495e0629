import BluetoothBackend
import BluetoothSupport
import Synchronization

/// A receiver that handles each event at once.
final class CollectingSink<Event: Sendable>: EventSink {
    let label = "collecting sink"
    private let collected = Lock<[Event]>([])

    var events: [Event] { collected.withLock { $0 } }

    func deliver(_ event: Event) { collected.withLock { $0.append(event) } }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}
