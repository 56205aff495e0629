import BluetoothBackend

/// A central role of a ``ScriptedBackend``.
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
            case .request(_, let operation, .readRSSI), .request(_, let operation, .discoverServices),
                .request(_, let operation, .discoverIncludedServices),
                .request(_, let operation, .discoverCharacteristics),
                .request(_, let operation, .discoverDescriptors), .request(_, let operation, .read),
                .request(_, let operation, .write), .request(_, let operation, .setNotifying),
                .request(_, let operation, .openChannel), .connect(_, let operation, _):
                return operation
            default: continue
            }
        }
        return nil
    }
}
