#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The signals of devices: they are added, change, and are removed.
extension CentralRoleMachine {
    mutating func deviceAdded(_ path: ObjectPath, isSnapshot: Bool) {
        guard isOurs(path), let device = objects.devices[path], let peer = directory.peer(at: path) else { return }
        if device.isConnected { connectedChanged(peer, path, device) }
        connects.becameReady(peer)
        connectNext()
        // BlueZ pitfall: for a device that advertises once, this signal is the only one
        // (https://github.com/hbldh/bleak/issues/903); and a device of a snapshot may have gone long ago
        // (https://github.com/deviceplug/btleplug/issues/206).
        if !isSnapshot { report(peer, device) }
    }

    mutating func deviceChanged(_ path: ObjectPath, _ changes: Device1.Changes) {
        guard isOurs(path), let device = objects.devices[path], let peer = directory.peer(at: path) else { return }
        if changes.contains(.name), let name = directory[peer]?.name { nameChanged(peer, name) }
        if changes.contains(.connected) { connectedChanged(peer, path, device) }
        if changes.contains(.servicesResolved) { update(peer) { $0.resolvedChanged(&$1) } }
        if changes.contains(.advertisement) {
            report(peer, device)
            connects.becameReady(peer)
            connectNext()
        }
    }

    mutating func deviceRemoved(_ path: ObjectPath, _ device: Device1, _ peer: PeerID) {
        guard isOurs(path) else { return }
        var device = device
        if device.isConnected {
            device.disconnect()
            connectedChanged(peer, path, device)
        }
        connectLostObject(peer)
    }

    private mutating func nameChanged(_ peer: PeerID, _ name: String) {
        let source: NameSource = directory[peer]?.gapName == nil ? .advertised : .gap
        for lease in context.ledger.leases(of: peer) {
            deliver(lease.manager, .nameChanged(peer: peer, name: name, source: source))
        }
    }

    mutating func reportConnectionEvent(_ peer: PeerID, _ path: ObjectPath, _ device: Device1) {
        for manager in managers.keys.sorted() {
            guard let filter = managers[manager]?.connectionEvents else { continue }
            let matches =
                filter.peers.contains(peer)
                || filter.services.contains { offers($0, path, device) }
            if matches { deliver(manager, .connectionEvent(peer: peer, isConnected: device.isConnected)) }
        }
    }
}
#endif
