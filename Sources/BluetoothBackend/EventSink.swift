/// Where a backend's events go: a manager's mailbox, or a wrapper's.
public protocol EventSink<Event>: AnyObject, Sendable {
    /// What is delivered.
    associatedtype Event: Sendable

    /// Who receives, for messages about a receiver that does not settle: the queue's label.
    var label: String { get }

    /// Appends one event and returns; app code never runs inside. Callable from any thread; the order of calls is
    /// the order of delivery.
    func deliver(_ event: Event)

    /// The same, for a caller that sees to it that the receiver's queue runs.
    ///
    /// - Returns: What the caller must start or run; nil where the queue runs already, or is about to.
    func append(_ event: Event) -> (any PendingDelivery)?

    /// Calls `body` once all that was delivered before has been handled by the delegate, also when there was nothing.
    func afterDelivery(_ body: @escaping @Sendable () -> Void)
}

extension EventSink {
    /// Delivers it: a sink that knows no better has its queue woken for each event.
    public func append(_ event: Event) -> (any PendingDelivery)? {
        deliver(event)
        return nil
    }
}
