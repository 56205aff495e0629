#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Services that are added and removed while a device is connected.
extension CentralRoleMachine {
    mutating func serviceAdded(_ path: ObjectPath, of device: ObjectPath) {
        guard let peer = directory.peer(at: device), let link = links[peer] else { return }
        if link.services.areAwaited {
            // The characteristics follow in separate signals.
            return start(.awaitingServices(peer), timings.serviceChanges)
        }
        // A service with a number was delivered already: the snapshot contains the services that a manager restored,
        // too.
        guard link.services.areDelivered, link.attributes.knownID(of: path) == nil else { return }
        links[peer]?.services.added.append(path)
        start(.serviceChanges(peer), timings.serviceChanges)
    }

    mutating func serviceRemoved(_ path: ObjectPath, of device: ObjectPath) {
        guard let peer = directory.peer(at: device), links[peer] != nil else { return }
        links[peer]?.services.added.removeAll { $0 == path }
        guard let id = links[peer]?.attributes.remove(path) else { return }
        links[peer]?.services.removed.append(id)
        start(.serviceChanges(peer), timings.serviceChanges)
    }

    mutating func attributeRemoved(_ path: ObjectPath, of device: ObjectPath) {
        guard let peer = directory.peer(at: device), links[peer] != nil else { return }
        // BlueZ drops the subscription with the object.
        if let socket = links[peer]?.subscriptions.removeValue(forKey: path)?.socket {
            perform(.close, onNotificationSocket: socket)
        }
        guard let id = links[peer]?.attributes.remove(path) else { return }
        failOperations(on: id, at: path, of: peer)
        runOperations(peer)
    }

    /// Fails the operations on an attribute whose object is gone.
    ///
    /// BlueZ pitfall: `bluetoothd` drops pending calls together with the object, and never answers
    /// (`unregister_characteristic` and `unregister_descriptor` in `src/gatt-client.c`).
    private mutating func failOperations(on attribute: AttributeID, at path: ObjectPath, of peer: PeerID) {
        guard let link = links[peer], !link.ending.isDown, !link.ending.isClosing else { return }
        let asked = link.inFlight.filter { $0.value.command.valueAttribute == attribute }
        for (call, operation) in asked.sorted(by: { $0.key.number < $1.key.number }) {
            links[peer]?.inFlight[call] = nil
            failRemoved(operation, of: peer)
        }
        if link.writes.open?.path == path { giveBackSocket(peer) }
        for operation in links[peer]?.writes.removed(path, attribute) ?? [] { failRemoved(operation, of: peer) }
    }

    private mutating func failRemoved(_ operation: LinkState.Operation, of peer: PeerID) {
        let error = BackendError(
            .invalidHandle, operation: operation.command.member, message: "the peer has removed the attribute")
        // A device whose services are not resolved may be about to disconnect; the end of the link is then the answer.
        guard links[peer].map({ objects.devices[$0.path]?.isServicesResolved == false }) == true,
            operation.command.operation != nil, links[peer]?.ending.lost == nil
        else { return endFailed(peer, operation, error) }
        links[peer]?.ending.lost = (operation, error)
        start(.linkLoss(peer), timings.linkLoss)
    }

    mutating func reportServiceChanges(_ peer: PeerID) {
        guard let link = links[peer], !link.ending.isDown, !link.ending.isClosing else { return }
        links[peer]?.services.removed = []
        links[peer]?.services.added = []
        let added = link.services.added.filter { isApps($0) }.compactMap { record(ofService: $0, peer) }
        guard !added.isEmpty || !link.services.removed.isEmpty else { return }
        for lease in ledger.leases(of: peer) {
            guard let id = lease.link else { continue }
            deliver(lease.manager, .servicesChanged(link: id, removed: link.services.removed, added: added))
        }
    }
}
#endif
