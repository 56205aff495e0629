/// Where a backend's events go: a manager's mailbox, or a wrapper's.
public protocol EventSink<Event>: AnyObject, Sendable {
    /// What is delivered.
    associatedtype Event: Sendable

    /// Who receives, for messages about a receiver that does not settle: the queue's label.
    var label: String { get }

    /// Appends one event and returns; app code never runs inside. Callable from any thread; the order of calls is
    /// the order of delivery.
    func deliver(_ event: Event)

    /// Calls `body` once all that was delivered before has been handled by the delegate, also when there was nothing.
    func afterDelivery(_ body: @escaping @Sendable () -> Void)
}
