/// The peripheral role of one adapter for one manager: commands go in, ordered events come out.
///
/// The same contract as ``CentralBackend``: ``submit(_:)`` never blocks and never delivers inline, each operation is
/// answered exactly once unless the state ends first, and the state event that leaves `poweredOn` closes what is open.
public protocol PeripheralBackend: AnyObject, Sendable {
    /// Starts delivery; called once. The backend holds the sink until ``invalidate()``.
    func activate(_ sink: any EventSink<PeripheralEvent>)

    /// Hands over one command; callable from any thread.
    func submit(_ command: PeripheralCommand)

    /// Withdraws this manager's services, advertisement and channels and ends delivery. Later calls do nothing.
    func invalidate()
}
