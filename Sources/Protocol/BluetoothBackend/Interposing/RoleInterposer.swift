/// The receiver of what passes an ``InterposedRole``, which changes nothing of it.
package protocol RoleInterposer<Command, Event>: Sendable {
    associatedtype Command: Sendable
    associatedtype Event: Sendable

    /// Called before the backend activates the role.
    func willActivate()

    /// Called before the backend receives a command; outside the backend's locks.
    func willSubmit(_ command: Command)

    /// Called when the backend delivers an event, before the receiver has it.
    ///
    /// The backend may hold a lock: the time is the clock's ``BackendClock/deliveryTime``, and everything else waits for
    /// ``handleEvents()``.
    func willDeliver(_ event: Event)

    /// Called on the receiver's queue before the receiver handles the events that ``willDeliver(_:)`` announced; outside
    /// all locks.
    func handleEvents()

    /// Called with the peers that the backend returned to a manager.
    func didReturn(_ peers: [PeerSummary])

    /// Called before the backend invalidates the role.
    func willInvalidate()
}

extension RoleInterposer {
    package func willActivate() {}
    package func didReturn(_ peers: [PeerSummary]) {}
}
