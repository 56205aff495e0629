import BluetoothBackend
import DequeModule

// Apps that the system terminates and relaunches: the preservation and restoration of their state.
extension World {
    // MARK: Ending an app

    /// Terminates the managers with a restore identifier, and preserves their state.
    mutating func terminateApp(_ identifier: String, on host: Int) {
        for ref in hosts[host].managers where hosts.managers[ref]?.restoreIdentifier == identifier {
            switch hosts.managers[ref]?.role {
            case .central?: preserveCentral(ref, identifier, host)
            case .peripheral?: preservePeripheral(ref, identifier, host)
            case .pairing?, nil: break
            }
        }
    }

    private mutating func preserveCentral(_ ref: Ref<Manager>, _ identifier: String, _ host: Int) {
        let placeholder = context.identifiers.nextPlaceholder()
        var preserved = TerminatedCentral(placeholder: placeholder)
        preserved.scan = hosts[host].scanning.scanners.first { $0.manager == ref }?.filter.parameters
        for peer in hosts[host].ledger.wantedPeers {
            guard let lease = hosts[host].ledger.leases(of: peer).first(where: { $0.manager == ref.packed }) else {
                continue
            }
            let link = hosts[host].links[peer].flatMap { links[$0] }
            let notifying = (link?.server.subscriptions.keys.sorted() ?? []).filter { attribute in
                hosts[host].ledger.subscribers(of: attribute, at: peer).contains { $0.manager == ref.packed }
            }
            connect(host, placeholder, peer, lease.operation, lease.options)
            subscribe(placeholder, to: notifying, of: peer, on: host)
            preserved.peers.append(
                TerminatedCentral.Peer(
                    id: peer, operation: lease.operation, options: lease.options, notifying: notifying))
        }
        hosts[host].terminatedApps.centrals[identifier] = preserved
        removeManager(ref)
    }

    private mutating func subscribe(
        _ manager: Ref<Manager>, to attributes: [AttributeID], of peer: PeerID, on host: Int
    ) {
        for attribute in attributes {
            _ = hosts[host].ledger.setSubscribed(manager.packed, to: attribute, of: peer, true)
        }
    }

    private mutating func preservePeripheral(_ ref: Ref<Manager>, _ identifier: String, _ host: Int) {
        guard let manager = hosts.managers[ref], let server = hosts[host].server else { return }
        closeListeners(of: ref, server)
        failRequests(of: ref, server)
        for link in air.devices[server]?.links ?? [] { links[link]?.server.notifyCredits[ref] = nil }
        hosts[host].terminatedApps.peripherals[identifier] = TerminatedPeripheral(
            publication: manager.publication, owner: ref)
        _ = hosts.remove(ref, &context)
    }

    // MARK: Starting it again

    /// Restores the state that is preserved under a manager's identifier, before the manager receives the adapter's
    /// state.
    mutating func restore(_ ref: Ref<Manager>) {
        guard let manager = hosts.managers[ref], let host = manager.host, let identifier = manager.restoreIdentifier
        else {
            return
        }
        if manager.role == .central, let preserved = hosts[host].terminatedApps.centrals.removeValue(forKey: identifier)
        {
            restore(preserved, to: ref, on: host)
        }
        if manager.role == .peripheral,
            let preserved = hosts[host].terminatedApps.peripherals.removeValue(forKey: identifier),
            let server = hosts[host].server
        {
            restore(preserved, to: ref, server)
        }
    }

    private mutating func restore(_ preserved: TerminatedCentral, to ref: Ref<Manager>, on host: Int) {
        var peers: [RestoredCentralState.Peer] = []
        for peer in preserved.peers where hosts[host].adapter.isOn {
            peers.append(restore(peer, to: ref, on: host))
            if let placeholder = preserved.placeholder { disconnect(host, placeholder, peer.id) }
        }
        context.emit(.restored(RestoredCentralState(peers: peers, scan: preserved.scan)), to: ref)
    }

    private mutating func restore(
        _ peer: TerminatedCentral.Peer, to ref: Ref<Manager>, on host: Int
    ) -> RestoredCentralState.Peer {
        let summary =
            hosts.knownPeers([peer.id], of: host).first ?? PeerSummary(id: peer.id)
        var restored = RestoredCentralState.Peer(summary: summary, operation: peer.operation)
        switch hosts[host].ledger.connect(ref.packed, to: peer.id, operation: peer.operation, options: peer.options) {
        case .connect: startConnecting(peer.id, on: host)
        case .wait: break
        case .linked(let lease):
            guard let id = lease.link, let link = hosts[host].links[peer.id], let mtu = links[link]?.mtu else { break }
            let credits = context.configuration.transmitBuffer
            hosts.managers[ref]?.open(id, Manager.OpenLink(link: link, credits: credits))
            subscribe(ref, to: peer.notifying, of: peer.id, on: host)
            restored.link = id
            restored.parameters = LinkParameters(mtu: mtu, writeCredits: credits)
            restored.services = peer.services ?? knownServices(of: link, notifying: peer.notifying)
        }
        return restored
    }

    private func knownServices(of link: Ref<Link>, notifying: [AttributeID]) -> [RestoredCentralState.Service] {
        guard let database = links[link].flatMap({ $0.client.cache ?? air.devices[$0.device]?.server.database }) else {
            return []
        }
        return database.visibleServices.compactMap { id in
            guard let record = database.record(ofService: id), record.isPrimary else { return nil }
            let children = database[id]?.children ?? []
            return RestoredCentralState.Service(
                record: record, characteristics: children.compactMap(database.record(ofCharacteristic:)),
                notifying: notifying.filter(children.contains))
        }
    }

    private mutating func restore(_ preserved: TerminatedPeripheral, to ref: Ref<Manager>, _ server: Ref<Device>) {
        if let owner = preserved.owner {
            air.devices[server]?.server.database.reown(from: owner, to: ref)
            hosts.managers[ref]?.publication = preserved.publication
            for index in air.devices[server]?.advertiser.sets.indices ?? 0..<0
            where air.devices[server]?.advertiser.sets[index].manager == owner {
                air.devices[server]?.advertiser.sets[index].manager = ref
            }
        } else if air.devices[server]?.signal.isOn == true {
            for service in preserved.publication.services { publish(service, nil, ref, server) }
            if let advertisement = preserved.publication.advertisement {
                startAdvertising(advertisement, nil, ref, server)
            }
        }
        var subscriptions: [RestoredPeripheralState.Subscription] = []
        var centrals: [PeerID] = []
        for link in air.devices[server]?.links ?? [] {
            guard let central = links[link]?.server.central, let mtu = links[link]?.mtu else { continue }
            for attribute in links[link]?.server.subscriptions.keys.sorted() ?? [] {
                guard let owner = air.devices[server]?.server.database[attribute]?.owner, owner.manager == ref else {
                    continue
                }
                subscriptions.append(.init(central: central, attribute: owner.local, mtu: mtu))
                guard links[link]?.server.notifyCredits[ref] == nil else { continue }
                links[link]?.server.notifyCredits[ref] = max(1, context.configuration.notifyBuffer)
                centrals.append(central)
            }
        }
        let state = RestoredPeripheralState(
            services: hosts.managers[ref]?.publication.services ?? [], subscriptions: subscriptions,
            advertisement: hosts.managers[ref]?.publication.advertisement)
        context.emit(PeripheralEvent.restored(state), to: ref)
        for central in centrals {
            context.emit(
                PeripheralEvent.notifyCredits(central: central, count: max(1, context.configuration.notifyBuffer)),
                to: ref)
        }
    }
}

extension AttributeDatabase {
    fileprivate mutating func reown(from old: Ref<Manager>, to new: Ref<Manager>) {
        for service in publishedServices(by: old) {
            let characteristics = self[service]?.children ?? []
            let descriptors = characteristics.flatMap { self[$0]?.children ?? [] }
            for id in [service] + characteristics + descriptors {
                guard let owner = self[id]?.owner else { continue }
                self[id]?.owner = Attribute.Owner(manager: new, local: owner.local, isDynamic: owner.isDynamic)
            }
        }
    }
}

// A world that continues without its apps.
extension World {
    /// Ends all managers, and asks asynchronous handlers again.
    ///
    /// Pending outputs to the apps are dropped.
    mutating func endApps() {
        context.log("restored from a snapshot, without its apps")
        context.timeline.cancelAlarms()
        for host in hosts.indices {
            for identifier in startedApps(on: host) { terminateApp(identifier, on: host) }
        }
        for manager in hosts.managers.refs { removeManager(manager) }
        context.outputs = []
        context.tapped = []
        askHandlersAgain()
    }

    /// Returns the restore identifiers of a host's hosts.managers.
    ///
    /// A manager that received no state yet has restored nothing; the state stays preserved for the next manager.
    private func startedApps(on host: Int) -> [String] {
        var identifiers: [String] = []
        for ref in hosts[host].managers {
            guard let manager = hosts.managers[ref], manager.reportedState != nil,
                let identifier = manager.restoreIdentifier,
                !identifiers.contains(identifier)
            else { continue }
            identifiers.append(identifier)
        }
        return identifiers
    }
}
