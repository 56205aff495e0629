#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// State restoration of managers with a restore identifier, for this process and the next.
extension CentralRoleMachine {
    /// The preserved state of a manager with a restore identifier.
    struct Preservation: Sendable {
        /// The state of the earlier process, until the manager's first state event.
        var left: PreservedCentral?
        /// The state for the next process.
        var preserved: PreservedCentral?
    }

    /// Adds a manager with a restore identifier, before its activation.
    ///
    /// - Parameter left: The state of the earlier process, if any.
    mutating func adopt(_ left: PreservedCentral?, for manager: HostLedger.Manager) {
        preservations[manager] = Preservation(left: left, preserved: left)
        guard let left else { return }
        // Peers keep the identifiers of the earlier process.
        let directory = objects.directory(of: left.adapter)
        for peer in left.peers { directory.remember(peer.id, peer.address, isRandom: peer.isRandom, peer.name) }
    }

    // MARK: Preserving

    /// Reports the state to preserve, if it has changed.
    mutating func preserve() {
        guard context.mustPreserve else { return }
        context.mustPreserve = false
        for manager in preservations.keys.sorted() where preservations[manager]?.left == nil {
            let state = present(manager)
            let preserved = state.isEmpty ? nil : state
            guard preservations[manager]?.preserved != preserved else { continue }
            preservations[manager]?.preserved = preserved
            reportPreserved(manager, preserved)
        }
    }

    /// Discards the preserved state of a manager that its app has released.
    mutating func dropPreservation(of manager: HostLedger.Manager) {
        guard let entry = preservations.removeValue(forKey: manager), entry.preserved != nil else { return }
        reportPreserved(manager, nil)
    }

    private mutating func reportPreserved(_ manager: HostLedger.Manager, _ state: PreservedCentral?) {
        // Before the delivery to the app, so that everything the app knows is preserved.
        outputs.effects.insert(.preserve(manager, state), at: 0)
    }

    private func present(_ manager: HostLedger.Manager) -> PreservedCentral {
        let peers = context.ledger.wantedPeers.compactMap { peer -> PreservedCentral.Peer? in
            guard let lease = context.ledger.leases(of: peer).first(where: { $0.manager == manager }),
                let record = directory[peer]
            else { return nil }
            return PreservedCentral.Peer(
                id: peer, address: record.address, isRandom: record.isRandom, name: record.name,
                operation: lease.operation, options: lease.options, isOurs: links[peer]?.isOurs ?? true,
                notifying: notifying(manager, peer))
        }
        return PreservedCentral(
            adapter: watch.address ?? "", peers: peers,
            scan: context.ledger.scanners.first { $0.manager == manager }?.parameters)
    }

    private func notifying(_ manager: HostLedger.Manager, _ peer: PeerID) -> [String] {
        guard let link = links[peer] else { return [] }
        return link.subscriptions.sorted.compactMap { path, subscription in
            let subscribers = context.ledger.subscribers(of: subscription.attribute, at: peer)
            guard path.isBelow(link.path), subscribers.contains(where: { $0.manager == manager }) else { return nil }
            return String(path.text.dropFirst(link.path.text.count + 1))
        }
    }

    // MARK: Restoring

    /// Restores a manager's earlier state, before its first state event.
    mutating func restore(_ manager: HostLedger.Manager) {
        guard let left = preservations[manager]?.left else { return }
        preservations[manager]?.left = nil
        context.mustPreserve = true
        // Without power, no link and no pending connect exists (S12).
        let isThere = state == .poweredOn && left.adapter == watch.address
        let peers = isThere ? left.peers.compactMap { restore($0, to: manager) } : []
        deliver(manager, .restored(RestoredCentralState(peers: peers, scan: left.scan)))
    }

    private mutating func restore(
        _ left: PreservedCentral.Peer, to manager: HostLedger.Manager
    ) -> RestoredCentralState.Peer? {
        // Each peer once, even if the file repeats it.
        guard let peer = directory.peer(at: left.address, isRandom: left.isRandom),
            let summary = directory.summary(of: peer),
            !context.ledger.leases(of: peer).contains(where: { $0.manager == manager })
        else { return nil }
        var restored = RestoredCentralState.Peer(summary: summary, operation: left.operation)
        switch context.ledger.connect(manager, to: peer, operation: left.operation, options: left.options) {
        case .linked(let lease): restored.link = lease.link
        case .wait: break
        case .connect: restored.link = takeOver(peer, isOurs: left.isOurs)
        }
        guard restored.link != nil else { return restored }
        update(peer) { link, context in
            restored.parameters = link.parameters
            let notifying = left.notifying.compactMap { ObjectPath("\(link.path.text)/\($0)") }
            for path in notifying { Self.resubscribe(manager, path, &link, &context) }
            restored.services = Self.knownServices(of: &link, notifying: notifying, objects: context.objects)
        }
        return restored
    }

    /// Takes over a link that is up, or begins to make one.
    private mutating func takeOver(_ peer: PeerID, isOurs: Bool) -> LinkID? {
        guard let path = directory.path(of: peer), objects.devices[path]?.isConnected == true else {
            connects.add(peer, isClosing: false)
            connectNext()
            return nil
        }
        links[peer] = CentralLink(to: peer, at: path, isOurs: isOurs, in: objects)
        return context.ledger.linkUp(peer).first?.link
    }

    /// Subscribes again, because the subscription belonged to the D-Bus client and ended with the earlier process.
    private static func resubscribe(
        _ manager: HostLedger.Manager, _ path: ObjectPath, _ link: inout CentralLink, _ context: inout CentralContext
    ) {
        guard context.objects.characteristics[path] != nil else { return }
        let attribute = link.attributes.id(of: path)
        guard context.ledger.setSubscribed(manager, to: attribute, of: link.peer, true) else { return }
        link.subscribe(to: path, attribute, by: context.notificationMethod, &context)
    }

    private static func knownServices(
        of link: inout CentralLink, notifying: [ObjectPath], objects: ObjectModel
    ) -> [RestoredCentralState.Service] {
        guard objects.devices[link.path]?.isServicesResolved == true else { return [] }
        link.services.areDelivered = true
        return link.appsServices(objects).map { path, record in
            let characteristics = objects.attributes(of: path)
            return RestoredCentralState.Service(
                record: record,
                characteristics: characteristics.compactMap { link.record(ofCharacteristic: $0, objects) },
                notifying: notifying.filter(characteristics.contains).compactMap { link.attributes.knownID(of: $0) })
        }
    }
}
#endif
