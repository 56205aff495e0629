import BluetoothBackend

/// One central role of a ``ScriptedRadio``.
final class ScriptedCentral: CentralBackend, ScriptedRole {
    let script = RoleScript<CentralCommand, CentralEvent>()
    private let known: [PeerSummary]

    init(known: [PeerSummary]) { self.known = known }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { ids.compactMap { id in known.first { $0.id == id } } }
    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] { services.isEmpty ? [] : known }

    /// The operation and peer of the last connect.
    var lastConnect: (peer: PeerID, operation: OperationID)? {
        for case .connect(let peer, let operation, _) in commands.reversed() { return (peer, operation) }
        return nil
    }

    /// The operation of the last command that has one.
    var lastOperation: OperationID? {
        for command in commands.reversed() {
            switch command {
            case .readRSSI(_, let operation), .discoverServices(_, let operation, _),
                .discoverIncludedServices(_, let operation, _, _), .discoverCharacteristics(_, let operation, _, _),
                .discoverDescriptors(_, let operation, _), .read(_, let operation, _),
                .write(_, let operation, _, _), .setNotifying(_, let operation, _, _),
                .openChannel(_, let operation, _), .connect(_, let operation, _):
                return operation
            default: continue
            }
        }
        return nil
    }
}
