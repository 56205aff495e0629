import BluetoothBackend
import DequeModule

// Apps that the system terminates and relaunches: the preservation and restoration of their state.
extension World {
    // MARK: Ending an app

    /// Terminates the managers with a restore identifier, and preserves their state.
    mutating func terminateApp(_ identifier: String, on host: Int) {
        for (ref, manager) in lower.hosts.managers(of: host) where manager.restoreIdentifier == identifier {
            switch manager.role {
            case .central: preserveCentral(ref, identifier, host)
            case .peripheral: preservePeripheral(ref, manager, identifier, host)
            case .pairing: break
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

    private mutating func preservePeripheral(
        _ ref: Ref<Manager>, _ manager: Manager, _ identifier: String, _ host: Int
    ) {
        guard let server = lower.hosts[host].server else { return }
        closeListeners(of: ref, server)
        failRequests(of: ref, server)
        for link in lower.air.links(of: server) { gatt[link]?.server.notifyCredits[ref] = nil }
        lower.hosts[host].terminatedApps.peripherals[identifier] = TerminatedPeripheral(
            publication: manager.publication, owner: ref)
        lower.hosts.remove(ref, &lower.context)
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
            restore(preserved, to: ref, on: host, server)
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
            guard let id = lease.link, let open = lower.hosts[host].links[peer.id], let link = lower.links[open]
            else { break }
            let credits = lower.context.configuration.transmitBuffer
            restored.link = id
            restored.parameters = lower.hosts.open(id, open, link, credits: credits, for: ref)
            subscribe(ref, to: peer.notifying, of: peer.id, on: host)
            restored.services = peer.services ?? knownServices(of: open, link, notifying: peer.notifying)
        }
        return restored
    }

    private mutating func knownServices(
        of ref: Ref<Link>, _ link: Link, notifying: [AttributeID]
    ) -> [RestoredCentralState.Service] {
        guard let database = gatt.knownDatabase(on: ref, link, &lower) else { return [] }
        return database.visibleServices.compactMap { id in
            guard let record = database.record(ofService: id), record.isPrimary else { return nil }
            let children = database[id]?.children ?? []
            return RestoredCentralState.Service(
                record: record, characteristics: children.compactMap(database.record(ofCharacteristic:)),
                notifying: notifying.filter(children.contains))
        }
    }

    private mutating func restore(
        _ preserved: TerminatedPeripheral, to ref: Ref<Manager>, on host: Int, _ server: Ref<Device>
    ) {
        if let owner = preserved.owner {
            lower.air.devices[server]?.reown(from: owner, to: ref)
            lower.hosts.managers[ref]?.publication = preserved.publication
        } else if lower.air.isOn(server) {
            for service in preserved.publication.services { gatt.publish(service, nil, by: ref, at: server, &lower) }
            if let advertisement = preserved.advertisement {
                lower.air.startAdvertising(advertisement, nil, ref, on: host, &lower.hosts, &lower.context)
            }
        }
        guard let device = lower.air.devices[server], let manager = lower.hosts.managers[ref] else { return }
        let credits = max(1, lower.context.configuration.notifyBuffer)
        var subscriptions: [RestoredPeripheralState.Subscription] = []
        var centrals: [PeerID] = []
        for link in device.links {
            guard let open = lower.links[link], let central = open.central else { continue }
            for attribute in gatt[link]?.server.subscriptions.keys.sorted() ?? [] {
                guard let owner = device.server.database[attribute]?.owner, owner.manager == ref else { continue }
                subscriptions.append(.init(central: central, attribute: owner.local, mtu: open.mtu))
                if gatt[link]?.server.grantCredits(credits, to: ref) == true { centrals.append(central) }
            }
        }
        let state = RestoredPeripheralState(
            services: manager.publication.services, subscriptions: subscriptions,
            advertisement: device.advertiser.requested[ref])
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
        for (_, manager) in lower.hosts.managers(of: host) where manager.reportedState != nil {
            guard let identifier = manager.restoreIdentifier, !identifiers.contains(identifier) else { continue }
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
        let devices = lower.air.described
        let descriptions = devices.map { _, device in
            PeripheralDescription(name: device.description.name, address: device.identity.address)
        }
        return devices[try descriptions.index(of: name, path: "")].ref
    }

    private mutating func preserve(_ description: PreservedPeripheralDescription, on host: Int) {
        openServer(of: host)
        guard let server = lower.hosts[host].server else { return }
        let placeholder = lower.context.identifiers.nextPlaceholder()
        var preserved = TerminatedPeripheral(owner: placeholder)
        for service in description.definitions {
            do {
                _ = try preserved.publication.add(service, of: placeholder, at: server, &lower.air)
            } catch { lower.context.log("service \(service.uuid) not kept: \(error)") }
        }
        lower.hosts[host].terminatedApps.peripherals[description.identifier] = preserved
        if let advertisement = description.advertisement?.advertisement(isConnectable: nil) {
            lower.air.startAdvertising(advertisement, nil, placeholder, on: host, &lower.hosts, &lower.context)
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
