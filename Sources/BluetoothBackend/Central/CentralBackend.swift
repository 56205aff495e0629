/// The central role of one adapter for one manager: commands go in, ordered events come out.
///
/// The contract, which every backend keeps and the contract suite proves:
///
/// - ``RoleBackend/submit(_:)`` never blocks and never delivers inline. Events arrive one at a time, in the order of
///   the radio.
/// - The first event is `stateChanged` (after `restored`, if there is something to restore).
/// - A link is a ``LinkID``, new at each `connected`. A command for a dead link is dropped in silence. One
///   `disconnected` closes all that is open on a link; commands without a link are closed by the state event that
///   leaves `poweredOn`, and links that end because power went get no `disconnected`.
/// - A command with an ``OperationID`` is answered exactly once with the same identifier, unless its link or the
///   state ends first. Answers on one link come in the order of the commands; a write command keeps its place among
///   them.
/// - Each write command costs one write credit; credits are granted in increments, the first with `connected`.
public protocol CentralBackend: RoleBackend where Command == CentralCommand, Event == CentralEvent {
    /// Those of the given peers that the host knows, in the order asked; from memory, never I/O.
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary]

    /// The peers that are connected to the host by anyone and offer one of the services; from memory, never I/O.
    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary]
}
