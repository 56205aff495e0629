import BluetoothBackend
import DequeModule

// Apps that the system terminates and relaunches: the preservation and restoration of their state.
extension World {
    // MARK: Ending an app

    /// Terminates the managers with a restore identifier, and preserves their state.
    mutating func terminateApp(_ identifier: String, on host: Int) {
        for ref in lower.hosts[host].managers where lower.hosts.managers[ref]?.restoreIdentifier == identifier {
            switch lower.hosts.managers[ref]?.role {
            case .central?: preserveCentral(ref, identifier, host)
            case .peripheral?: preservePeripheral(ref, identifier, host)
            case .pairing?, nil: break
            }
        }
    }

    private mutating func preserveCentral(_ ref: Ref<Manager>, _ identifier: String, _ host: Int) {
        let placeholder = lower.context.identifiers.nextPlaceholder()
        var preserved = TerminatedCentral(placeholder: placeholder)
        preserved.scan = lower.hosts[host].scanning.scanners.first { $0.manager == ref }?.filter.parameters
        for peer in lower.hosts[host].ledger.wantedPeers {
            guard let lease = lower.hosts[host].ledger.leases(of: peer).first(where: { $0.manager == ref.packed })
            else { continue }
            let bearer = lower.hosts[host].links[peer].flatMap { gatt[$0] }
            let notifying = (bearer?.server.subscriptions.keys.sorted() ?? []).filter { attribute in
                lower.hosts[host].ledger.subscribers(of: attribute, at: peer).contains { $0.manager == ref.packed }
            }
            connect(host, placeholder, peer, lease.operation, lease.options)
            subscribe(placeholder, to: notifying, of: peer, on: host)
            preserved.peers.append(
                TerminatedCentral.Peer(
                    id: peer, operation: lease.operation, options: lease.options, notifying: notifying))
        }
        lower.hosts[host].terminatedApps.centrals[identifier] = preserved
        removeManager(ref)
    }

    private mutating func subscribe(
        _ manager: Ref<Manager>, to attributes: [AttributeID], of peer: PeerID, on host: Int
    ) {
        for attribute in attributes {
            _ = lower.hosts[host].ledger.setSubscribed(manager.packed, to: attribute, of: peer, true)
        }
    }

    private mutating func preservePeripheral(_ ref: Ref<Manager>, _ identifier: String, _ host: Int) {
        guard let manager = lower.hosts.managers[ref], let server = lower.hosts[host].server else { return }
        closeListeners(of: ref, server)
        failRequests(of: ref, server)
        for link in lower.air.links(of: server) { gatt[link]?.server.notifyCredits[ref] = nil }
        lower.hosts[host].terminatedApps.peripherals[identifier] = TerminatedPeripheral(
            publication: manager.publication, owner: ref)
        _ = lower.hosts.remove(ref, &lower.context)
    }

    // MARK: Starting it again

    /// Restores the state that is preserved under a manager's identifier, before the manager receives the adapter's
    /// state.
    mutating func restore(_ ref: Ref<Manager>) {
        guard let manager = lower.hosts.managers[ref], let host = manager.host,
            let identifier = manager.restoreIdentifier
        else { return }
        if manager.role == .central,
            let preserved = lower.hosts[host].terminatedApps.centrals.removeValue(forKey: identifier)
        {
            restore(preserved, to: ref, on: host)
        }
        if manager.role == .peripheral,
            let preserved = lower.hosts[host].terminatedApps.peripherals.removeValue(forKey: identifier),
            let server = lower.hosts[host].server
        {
            restore(preserved, to: ref, server)
        }
    }

    private mutating func restore(_ preserved: TerminatedCentral, to ref: Ref<Manager>, on host: Int) {
        var peers: [RestoredCentralState.Peer] = []
        for peer in preserved.peers where lower.hosts[host].adapter.isOn {
            peers.append(restore(peer, to: ref, on: host))
            if let placeholder = preserved.placeholder { disconnect(host, placeholder, peer.id) }
        }
        lower.context.emit(.restored(RestoredCentralState(peers: peers, scan: preserved.scan)), to: ref)
    }

    private mutating func restore(
        _ peer: TerminatedCentral.Peer, to ref: Ref<Manager>, on host: Int
    ) -> RestoredCentralState.Peer {
        let summary = lower.hosts.knownPeers([peer.id], of: host).first ?? PeerSummary(id: peer.id)
        var restored = RestoredCentralState.Peer(summary: summary, operation: peer.operation)
        switch lower.hosts[host].ledger.connect(
            ref.packed, to: peer.id, operation: peer.operation, options: peer.options)
        {
        case .connect: startConnecting(peer.id, on: host)
        case .wait: break
        case .linked(let lease):
            guard let id = lease.link, let link = lower.hosts[host].links[peer.id], let mtu = lower.links[link]?.mtu
            else { break }
            let credits = lower.context.configuration.transmitBuffer
            lower.hosts.managers[ref]?.open(id, Manager.OpenLink(link: link, credits: credits))
            subscribe(ref, to: peer.notifying, of: peer.id, on: host)
            restored.link = id
            restored.parameters = LinkParameters(mtu: mtu, writeCredits: credits)
            restored.services = peer.services ?? knownServices(of: link, notifying: peer.notifying)
        }
        return restored
    }

    private func knownServices(of link: Ref<Link>, notifying: [AttributeID]) -> [RestoredCentralState.Service] {
        guard let device = lower.links[link]?.device,
            let database = gatt[link]?.client.cache ?? lower.air.devices[device]?.server.database
        else { return [] }
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
            lower.air.devices[server]?.reown(from: owner, to: ref)
            lower.hosts.managers[ref]?.publication = preserved.publication
        } else if lower.air.devices[server]?.signal.isOn == true {
            for service in preserved.publication.services { gatt.publish(service, nil, by: ref, at: server, &lower) }
            if let advertisement = preserved.publication.advertisement {
                lower.air.startAdvertising(advertisement, nil, ref, at: server, &lower.hosts, &lower.context)
            }
        }
        guard let device = lower.air.devices[server], let publication = lower.hosts.managers[ref]?.publication else {
            return
        }
        let credits = max(1, lower.context.configuration.notifyBuffer)
        var subscriptions: [RestoredPeripheralState.Subscription] = []
        var centrals: [PeerID] = []
        for link in device.links {
            guard let central = lower.links[link]?.central, let mtu = lower.links[link]?.mtu else { continue }
            for attribute in gatt[link]?.server.subscriptions.keys.sorted() ?? [] {
                guard let owner = device.server.database[attribute]?.owner, owner.manager == ref else { continue }
                subscriptions.append(.init(central: central, attribute: owner.local, mtu: mtu))
                if gatt[link]?.server.grantCredits(credits, to: ref) == true { centrals.append(central) }
            }
        }
        let state = RestoredPeripheralState(
            services: publication.services, subscriptions: subscriptions, advertisement: publication.advertisement)
        lower.context.emit(PeripheralEvent.restored(state), to: ref)
        for central in centrals {
            lower.context.emit(PeripheralEvent.notifyCredits(central: central, count: credits), to: ref)
        }
    }

    // MARK: Without apps

    /// Ends all managers, and asks asynchronous handlers again.
    ///
    /// Pending outputs to the apps are dropped.
    mutating func endApps() {
        lower.context.log("restored from a snapshot, without its apps")
        lower.context.timeline.cancelAlarms()
        for host in lower.hosts.indices {
            for identifier in startedApps(on: host) { terminateApp(identifier, on: host) }
        }
        for manager in lower.hosts.managers.refs { removeManager(manager) }
        lower.context.outputs = []
        lower.context.tapped = []
        askHandlersAgain()
    }

    /// Returns the restore identifiers of a host's managers.
    ///
    /// A manager that received no state yet has restored nothing; the state stays preserved for the next manager.
    private func startedApps(on host: Int) -> [String] {
        var identifiers: [String] = []
        for ref in lower.hosts[host].managers {
            guard let manager = lower.hosts.managers[ref], manager.reportedState != nil,
                let identifier = manager.restoreIdentifier, !identifiers.contains(identifier)
            else { continue }
            identifiers.append(identifier)
        }
        return identifiers
    }

    // MARK: Described apps

    /// Preserves the states of a described host, after the devices have been added.
    mutating func preserveApps(of description: HostDescription, on host: Int) {
        for central in description.centrals { preserve(central, on: host) }
        for peripheral in description.peripherals { preserve(peripheral, on: host) }
    }

    private mutating func preserve(_ description: PreservedCentralDescription, on host: Int) {
        let placeholder = lower.context.identifiers.nextPlaceholder()
        var preserved = TerminatedCentral(placeholder: placeholder)
        preserved.scan = description.scan
        for (index, peer) in description.peers.enumerated() {
            let ref: Ref<Device>
            do throws(DescriptionError) { ref = try described(peer.device) } catch {
                lower.context.log("no device is kept connected: \(error)")
                continue
            }
            guard let device = lower.air.devices[ref] else { continue }
            let id = device.identity.peers[host]
            let operation = OperationID(rawValue: UInt64(index + 1))
            lower.hosts[host].peers[id] = KnownPeer(
                address: device.identity.address, deviceName: device.description.name)
            lower.hosts[host].peers.noteUse(of: id)
            preserved.peers.append(
                TerminatedCentral.Peer(
                    id: id, operation: operation, options: ConnectOptions(),
                    notifying: peer.subscriptions.compactMap {
                        device.server.database.characteristic(CharacteristicPath($0))
                    }))
            if lower.hosts[host].adapter.isOn { connect(host, placeholder, id, operation, ConnectOptions()) }
        }
        lower.hosts[host].terminatedApps.centrals[description.identifier] = preserved
    }

    /// Returns the device with a name or an address.
    private func described(_ name: String) throws(DescriptionError) -> Ref<Device> {
        let refs = lower.air.described
        let descriptions = refs.compactMap { ref in
            lower.air.devices[ref].map {
                PeripheralDescription(name: $0.description.name, address: $0.identity.address)
            }
        }
        return refs[try descriptions.index(of: name, path: "")]
    }

    private mutating func preserve(_ description: PreservedPeripheralDescription, on host: Int) {
        openServer(of: host)
        guard let server = lower.hosts[host].server else { return }
        let placeholder = lower.context.identifiers.nextPlaceholder()
        let advertisement = description.advertisement?.advertisement(isConnectable: nil)
        var preserved = TerminatedPeripheral(
            publication: ManagerPublication(advertisement: advertisement), owner: placeholder)
        for service in description.definitions {
            do {
                _ = try lower.air.devices[server]?.server.publish(
                    service, by: placeholder, &preserved.publication.attributes)
                preserved.publication.services.append(service)
            } catch { lower.context.log("service \(service.uuid) not kept: \(error)") }
        }
        lower.hosts[host].terminatedApps.peripherals[description.identifier] = preserved
        if let advertisement {
            lower.air.startAdvertising(advertisement, nil, placeholder, at: server, &lower.hosts, &lower.context)
        }
    }

    /// Restores the subscriptions of terminated apps on a new link.
    mutating func subscribeForTerminatedApps(on ref: Ref<Link>) {
        guard let link = lower.links[ref] else { return }
        for identifier in lower.hosts[link.host].terminatedApps.centrals.keys.sorted() {
            guard let preserved = lower.hosts[link.host].terminatedApps.centrals[identifier],
                let placeholder = preserved.placeholder, let peer = preserved.peers.first(where: { $0.id == link.peer })
            else { continue }
            for attribute in peer.notifying {
                enqueue(LinkOperation(manager: placeholder, kind: .request(.setNotifying(attribute, true))), on: ref)
            }
        }
    }
}
