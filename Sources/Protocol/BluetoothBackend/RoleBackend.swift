/// One role of a backend for one owner: commands go in, ordered events come out.
///
/// It is the common part of ``CentralBackend``, ``PeripheralBackend`` and ``PairingBackend``, so that one wrapper can
/// serve all of them.
public protocol RoleBackend<Command, Event>: AnyObject, Sendable {
    /// The commands of the role.
    associatedtype Command: Sendable
    /// The events of the role.
    associatedtype Event: Sendable

    /// Starts the delivery; called once. The backend retains the sink until ``invalidate()``.
    func activate(_ sink: any EventSink<Event>)

    /// Submits one command; callable from any thread.
    ///
    /// It returns before the adapter has performed the command. A call may wait for a thread of the backend that
    /// handles data from the daemon: for microseconds, or for a tenth of a second after a list of ten thousand devices.
    func submit(_ command: Command)

    /// Ends everything that the owner has started, and the delivery, without further events. Later calls do nothing.
    func invalidate()
}

/// The receiver of a backend's events: a manager's inbox, or a wrapper.
public protocol EventSink<Event>: AnyObject, Sendable {
    /// The type of the events.
    associatedtype Event: Sendable

    /// The label of the receiver's queue, for messages about a receiver that does not become idle.
    var label: String { get }

    /// Appends one event and returns; app code never runs inside. Callable from any thread; the order of calls is
    /// the order of delivery.
    func deliver(_ event: Event)

    /// Appends one event without scheduling the receiver's queue, which the caller then does.
    ///
    /// - Returns: The delivery that the caller must start or run; nil if the queue is running or scheduled already.
    func append(_ event: Event) -> (any PendingDelivery)?

    /// Calls `body` after the delegate has handled all earlier events, if any.
    func afterDelivery(_ body: @escaping @Sendable () -> Void)

    /// Does the same without scheduling the receiver's queue, which the caller then does.
    ///
    /// - Returns: The delivery that the caller must start or run; nil if the queue is running or scheduled already.
    func appendMarker(_ body: @escaping @Sendable () -> Void) -> (any PendingDelivery)?
}

extension EventSink {
    /// Delivers the event, which schedules the queue for each event.
    public func append(_ event: Event) -> (any PendingDelivery)? {
        deliver(event)
        return nil
    }

    /// Calls ``afterDelivery(_:)``, which schedules the queue.
    public func appendMarker(_ body: @escaping @Sendable () -> Void) -> (any PendingDelivery)? {
        afterDelivery(body)
        return nil
    }
}

/// A sink that passes events to a closure, which may be called under a lock of the backend.
package final class PassingSink<Event: Sendable>: EventSink {
    package let label: String
    private let pass: @Sendable (Event) -> Void

    package init(_ label: String, _ pass: @escaping @Sendable (Event) -> Void) {
        (self.label, self.pass) = (label, pass)
    }

    package func deliver(_ event: Event) { pass(event) }
    package func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}

/// Events that wait in an inbox whose queue is not scheduled yet.
///
/// The recipient starts or runs the delivery, once; until then, no event in that inbox is handled.
public protocol PendingDelivery: Sendable {
    /// Schedules the events on the receiver's queue.
    ///
    /// Any thread.
    func start()

    /// Handles the events on the receiver's queue in this thread, which waits until the queue is free; schedules them
    /// if only the queue's thread may run it.
    ///
    /// App code runs inside, so the calling thread must hold no lock, be on no queue, and keep no other thread waiting.
    func run()
}
