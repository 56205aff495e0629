/// One role of a radio for one owner: commands go in, ordered events come out.
///
/// What ``CentralBackend``, ``PeripheralBackend`` and ``PairingBackend`` have in common, so that a wrapper can be
/// written once for all of them.
public protocol RoleBackend<Command, Event>: AnyObject, Sendable {
    /// What the role is asked.
    associatedtype Command: Sendable
    /// What the role tells.
    associatedtype Event: Sendable

    /// Starts delivery; called once. The backend holds the sink until ``invalidate()``.
    func activate(_ sink: any EventSink<Event>)

    /// Hands over one command; callable from any thread.
    func submit(_ command: Command)

    /// Ends what the owner has under way, and delivery, in silence. Later calls do nothing.
    func invalidate()
}
