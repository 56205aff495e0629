/// The peripheral role of one adapter for one manager: commands go in, ordered events come out.
///
/// The same contract as ``CentralBackend``: `submit` never blocks and never delivers inline, each operation is answered
/// exactly once unless the state ends first, and the state event that leaves `poweredOn` closes what is open.
/// `invalidate` withdraws this manager's services, advertisement and channels.
public protocol PeripheralBackend: RoleBackend where Command == PeripheralCommand, Event == PeripheralEvent {}
