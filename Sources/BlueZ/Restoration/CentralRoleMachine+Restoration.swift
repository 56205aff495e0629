#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// State restoration of managers with a restore identifier, for this process and the next.
extension CentralRoleMachine {
    /// The preserved state of all managers with a restore identifier.
    struct Preservation: Sendable {
        /// The preserved state of one manager.
        struct Entry: Sendable {
            /// The state of the earlier process, until the manager's first state event.
            var left: PreservedCentral?
            /// The state for the next process.
            var preserved: PreservedCentral?
        }

        var entries: [HostLedger.Manager: Entry] = [:]
        /// Whether the preserved state may be outdated.
        var needsUpdate = false
    }

    /// Adds a manager with a restore identifier, before its activation.
    ///
    /// - Parameter left: The state of the earlier process, if any.
    mutating func adopt(_ left: PreservedCentral?, for manager: HostLedger.Manager) {
        preservation.entries[manager] = Preservation.Entry(left: left, preserved: left)
        guard let left else { return }
        // Peers keep the identifiers of the earlier process.
        let directory = objects.directory(of: left.adapter)
        for peer in left.peers { directory.remember(peer.id, peer.address, isRandom: peer.isRandom, peer.name) }
    }

    // MARK: Preserving

    /// Reports the state to preserve, if it has changed.
    mutating func preserve() {
        guard preservation.needsUpdate else { return }
        preservation.needsUpdate = false
        for manager in preservation.entries.keys.sorted() where preservation.entries[manager]?.left == nil {
            let state = present(manager)
            let preserved = state.isEmpty ? nil : state
            guard preservation.entries[manager]?.preserved != preserved else { continue }
            preservation.entries[manager]?.preserved = preserved
            reportPreserved(manager, preserved)
        }
    }

    /// Discards the preserved state of a manager that its app has released.
    mutating func dropPreservation(of manager: HostLedger.Manager) {
        guard let entry = preservation.entries.removeValue(forKey: manager), entry.preserved != nil else { return }
        reportPreserved(manager, nil)
    }

    private func present(_ manager: HostLedger.Manager) -> PreservedCentral {
        let peers = ledger.wantedPeers.compactMap { peer -> PreservedCentral.Peer? in
            guard let lease = ledger.leases(of: peer).first(where: { $0.manager == manager }),
                let record = directory[peer]
            else { return nil }
            return PreservedCentral.Peer(
                id: peer, address: record.address, isRandom: record.isRandom, name: record.name,
                operation: lease.operation, options: lease.options, isOurs: links[peer]?.isOurs ?? true,
                notifying: notifying(manager, peer))
        }
        return PreservedCentral(
            adapter: watch.address ?? "", peers: peers,
            scan: ledger.scanners.first { $0.manager == manager }?.parameters)
    }

    private func notifying(_ manager: HostLedger.Manager, _ peer: PeerID) -> [String] {
        guard let link = links[peer] else { return [] }
        return link.subscriptions.sorted { $0.key < $1.key }.compactMap { path, subscription in
            guard path.isBelow(link.path),
                ledger.subscribers(of: subscription.attribute, at: peer).contains(where: { $0.manager == manager })
            else { return nil }
            return String(path.text.dropFirst(link.path.text.count + 1))
        }
    }

    // MARK: Restoring

    /// Restores a manager's earlier state, before its first state event.
    mutating func restore(_ manager: HostLedger.Manager) {
        guard let left = preservation.entries[manager]?.left else { return }
        preservation.entries[manager]?.left = nil
        preservation.needsUpdate = true
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
            !ledger.leases(of: peer).contains(where: { $0.manager == manager })
        else { return nil }
        var restored = RestoredCentralState.Peer(summary: summary, operation: left.operation)
        switch ledger.connect(manager, to: peer, operation: left.operation, options: left.options) {
        case .linked(let lease): restored.link = lease.link
        case .wait: break
        case .connect: restored.link = takeOver(peer, isOurs: left.isOurs)
        }
        guard restored.link != nil, let link = links[peer] else { return restored }
        restored.parameters = LinkParameters(mtu: link.mtu, writeCredits: LinkState.writeCredits)
        let notifying = left.notifying.compactMap { ObjectPath("\(link.path.text)/\($0)") }
        for path in notifying { resubscribe(manager, path, peer) }
        restored.services = knownServices(of: peer, notifying: notifying)
        return restored
    }

    /// Takes over a link that is up, or begins to make one.
    private mutating func takeOver(_ peer: PeerID, isOurs: Bool) -> LinkID? {
        guard let path = directory.path(of: peer), objects.devices[path]?.isConnected == true else {
            connects.add(peer, isClosing: false)
            connectNext()
            return nil
        }
        var link = CopyOnWrite(LinkState(isOurs: isOurs, path: path))
        link.mtu = currentMTU(of: path)
        links[peer] = link
        return ledger.linkUp(peer).first?.link
    }

    /// Subscribes again, because the subscription belonged to the D-Bus client and ended with the earlier process.
    private mutating func resubscribe(_ manager: HostLedger.Manager, _ path: ObjectPath, _ peer: PeerID) {
        guard objects.characteristics[path] != nil, let attribute = links[peer]?.attributes.id(of: path),
            ledger.setSubscribed(manager, to: attribute, of: peer, true)
        else { return }
        subscribe(to: path, attribute, of: peer, by: notificationMethod)
    }

    private mutating func knownServices(
        of peer: PeerID, notifying: [ObjectPath]
    ) -> [RestoredCentralState.Service] {
        guard let device = links[peer]?.path, objects.devices[device]?.isServicesResolved == true else { return [] }
        links[peer]?.services.areDelivered = true
        return services(of: device, peer).map { path, record in
            let characteristics = objects.attributes(of: path)
            return RestoredCentralState.Service(
                record: record,
                characteristics: characteristics.compactMap { self.record(ofCharacteristic: $0, peer) },
                notifying: notifying.filter(characteristics.contains).compactMap {
                    links[peer]?.attributes.knownID(of: $0)
                })
        }
    }
}
#endif
