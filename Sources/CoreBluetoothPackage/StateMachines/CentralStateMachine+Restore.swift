import BluetoothBackend

/// What an earlier process left behind (S141, S142).
extension CentralStateMachine {
    /// Takes over connections, connections under way and the scan.
    ///
    /// The peers' objects are there already. Nothing is sent before there is power. Without an identifier nothing is
    /// restored (S144).
    mutating func restore(_ restored: RestoredCentralState) -> [CentralEffect] {
        guard canRestore else { return [.misuse(.noRestoreIdentifier)] }
        for peer in restored.peers { restore(peer) }
        restoredScan = restored.scan
        isScanning = restored.scan != nil
        return [.callback(.willRestore(restored))]
    }

    private mutating func restore(_ restored: RestoredCentralState.Peer) {
        let id = restored.summary.id
        lastOperation = max(lastOperation, restored.operation)
        _ = update(id) { peer in
            peer.connect = restored.operation
            guard let link = restored.link else {
                peer.state = .connecting
                return
            }
            peer.state = .connected
            peer.link = link
            peer.mtu = restored.parameters?.mtu ?? peer.mtu
            peer.writeCredits = restored.parameters?.writeCredits ?? 0
            _ = peer.database.addServices(restored.services.map(\.record))
            for service in restored.services {
                _ = peer.database.add(service.characteristics, in: service.record.id)
                peer.notifying.formUnion(service.notifying)
            }
        }
        if let link = restored.link, peers[id] != nil { links[link] = id }
    }
}
