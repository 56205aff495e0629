import BluetoothBackend

// Hosts and managers: their controls, their states, and the devices that peripheral managers form.
extension World {
    /// Adds a host, which learns of devices when it hears them.
    mutating func addHost(_ host: Host) {
        radio.hosts.append(host)
        let number = radio.hosts.count - 1
        if radio.context.tapped.contains(.hosts) { radio.context.report(.hostAdded(host.tapped(number))) }
        if let period = host.identity.rotation {
            radio.context.queue.schedule(
                .rotateHostAddress(number), at: radio.context.now + period.nanoseconds, isPeriodic: true)
        }
        for ref in radio.air.devices.refs { radio.air.devices[ref]?.identity.learn(host.identity) }
    }

    // MARK: Managers

    mutating func addManager(
        _ role: Manager.Role, host: Int?, restoreIdentifier: String? = nil,
        remembering limit: Int = RoleOptions.defaultRememberedPeers
    ) -> Ref<Manager> {
        let manager = Manager(role: role, host: host, restoreIdentifier: restoreIdentifier)
        let ref = radio.hosts.insert(manager, remembering: limit, &radio.context)
        if role == .peripheral, let host { openServer(of: host) }
        return ref
    }

    /// Removes a manager, without an event.
    mutating func removeManager(_ ref: Ref<Manager>) {
        switch radio.hosts.managers[ref]?.role {
        case .peripheral?: withdrawAll(of: ref)
        case .pairing?: removeAgent(ref)
        case .central?, nil: break
        }
        guard let manager = radio.hosts.remove(ref, &radio.context), let host = manager.host else { return }
        radio.hosts.stopScan(ref, on: host)
        for link in radio.hosts[host].links.values.sorted() { channels.closeAll(of: ref, on: link, &radio) }
        for peer in radio.hosts[host].ledger.remove(ref.packed) {
            stopConnecting(peer, on: host)
            if let link = radio.hosts[host].links[peer] { radio.links.scheduleLocalClose(link, &radio.context) }
        }
        for link in radio.hosts[host].links.values.sorted() { pruneSubscriptions(link) }
    }

    mutating func reportState(_ ref: Ref<Manager>) {
        guard let manager = radio.hosts.managers[ref] else { return }
        let state = radio.hosts.state(of: manager)
        guard manager.reportedState != state else { return }
        if manager.reportedState == nil { restore(ref) }
        radio.hosts.managers[ref]?.reportedState = state
        switch manager.role {
        case .central: radio.context.emit(CentralEvent.stateChanged(state), to: ref)
        case .peripheral: radio.context.emit(PeripheralEvent.stateChanged(state), to: ref)
        case .pairing: break
        }
    }

    // MARK: Controls

    mutating func apply(_ control: HostControl, to host: Int) {
        switch control {
        case .power(let isOn): change(host) { $0.isPowered = isOn }
        case .plug(let isPlugged): change(host) { $0.isPlugged = isPlugged }
        case .setState(let state): change(host) { $0.shownState = state }
        case .setAdvertising(let advertising):
            radio.air.setAdvertising(advertising, of: host, &radio.hosts, &radio.context)
        case .setMaximumMTU(let mtu): radio.hosts[host].adapter.maximumMTU = mtu
        case .authorize(let status):
            authorize(status, host)
            // The permission belongs to the app; hosts of managers that named none follow the default host's.
            guard radio.hosts[host].identity.name == "default" else { return }
            for other in radio.hosts.indices where radio.hosts[other].identity.isAnonymous { authorize(status, other) }
        case .reset(let duration):
            change(host) { $0.isResetting = true }
            radio.context.queue.schedule(
                .adapterBack(host, epoch: radio.hosts[host].adapter.epoch), at: radio.context.now + duration.nanoseconds
            )
        case .rotateAddress: radio.air.rotateAddress(ofHost: host, security, &radio.hosts, &radio.context)
        case .forget(let peer): forget(peer, on: host)
        case .remember(let peer):
            guard radio.hosts[host].peers[peer] == nil, let device = radio.air.device(peer, on: host) else { return }
            radio.hosts[host].peers[peer] = radio.air.devices[device].map { KnownPeer(address: $0.identity.address) }
        case .terminateApp(let identifier): terminateApp(identifier, on: host)
        case .preserveCentral(let state, let identifier):
            radio.hosts[host].terminatedApps.centrals[identifier] = TerminatedCentral(
                peers: state.peers.map { peer in
                    TerminatedCentral.Peer(
                        id: peer.summary.id, operation: peer.operation, options: ConnectOptions(),
                        services: peer.services, notifying: peer.services.flatMap(\.notifying))
                }, scan: state.scan)
        case .preservePeripheral(let state, let identifier):
            radio.hosts[host].terminatedApps.peripherals[identifier] = TerminatedPeripheral(
                publication: ManagerPublication(services: state.services, advertisement: state.advertisement))
        case .setFeature(let feature, let isOn):
            change(host) { adapter in
                if isOn { adapter.features.insert(feature) } else { adapter.features.remove(feature) }
            }
            radio.air.wakeAll(radio.hosts, &radio.context)
        case .authorizeANCS(let peer, let isAuthorized):
            radio.hosts.emit(toLeasesOf: peer, on: host, &radio.context) { _ in
                .ancsAuthorizationChanged(peer: peer, isAuthorized: isAuthorized)
            }
        case .bond(let device): bond(host, with: device)
        case .removeBond(let address): removeBond(address, on: host)
        case .connectOtherApp(let peer, let isWithoutAdvertising):
            guard radio.hosts[host].adapter.isOn else { return }
            if isWithoutAdvertising { return connectOtherAppAtOnce(peer, on: host) }
            connect(host, Hosts.otherApp, peer, OperationID(rawValue: 0), ConnectOptions())
        case .disconnectOtherApp(let peer): disconnect(host, Hosts.otherApp, peer)
        case .disconnectCentral(let peer, let isForSecurity):
            for ref in radio.links.serverLinks(of: radio.hosts[host], with: peer, radio.air) {
                radio.context.queue.schedule(
                    isForSecurity ? .securityClose(ref) : .remoteClose(ref),
                    at: radio.links.connectionEvent(of: ref, from: radio.context.now))
            }
        }
    }

    private mutating func authorize(_ status: AuthorizationStatus, _ host: Int) {
        guard radio.hosts[host].adapter.authorization != status else { return }
        for manager in radio.hosts[host].managers {
            switch radio.hosts.managers[manager]?.role {
            case .central?: radio.context.emit(CentralEvent.authorizationChanged(status), to: manager)
            case .peripheral?: radio.context.emit(PeripheralEvent.authorizationChanged(status), to: manager)
            case .pairing?, nil: break
            }
        }
        change(host) { $0.authorization = status }
    }

    /// Changes a host's adapter, and handles the change of its state.
    private mutating func change(_ host: Int, _ body: (inout HostAdapter) -> Void) {
        let wasOn = radio.hosts[host].adapter.isOn
        radio.hosts[host].adapter.change(body)
        radio.hosts.reportChange(of: host, &radio.context)
        let isOn = radio.hosts[host].adapter.isOn
        if wasOn, !isOn { handlePowerLoss(host) }
        serverStateChanged(host)
        for manager in radio.hosts[host].managers where radio.hosts.managers[manager]?.reportedState != nil {
            reportState(manager)
        }
        if !wasOn, isOn { radio.air.wakeAll(radio.hosts, &radio.context) }
    }

    mutating func adapterBack(_ host: Int, _ epoch: UInt32) {
        guard radio.hosts[host].adapter.isResetting, radio.hosts[host].adapter.epoch == epoch else { return }
        change(host) { $0.isResetting = false }
    }

    /// Ends everything that needs power, without events to the managers.
    private mutating func handlePowerLoss(_ host: Int) {
        radio.hosts[host].adapter.epoch += 1
        for manager in radio.hosts[host].managers { radio.hosts.managers[manager]?.lostPower() }
        radio.hosts[host].connecting = []
        security[host].stopWaitingForAll(&radio.context)
        for peer in security[host].requestedPeers {
            failPairingRequests(peer, on: host, BackendError(.notConnected, operation: "pair"))
        }
        radio.hosts[host].scanning.removeAll()
        let open = radio.hosts[host].links.values.sorted()
        radio.hosts[host].links = [:]
        for link in open { drop(link, reason: .local) }
        radio.hosts[host].ledger.removeAll()
    }

    private mutating func forget(_ peer: PeerID, on host: Int) {
        guard radio.hosts[host].links[peer] == nil, radio.hosts[host].peers.forget(peer) != nil else { return }
        radio.hosts[host].scanning.forget(peer)
        radio.hosts.emit(toCentralsOf: host, .peerForgotten(peer: peer), &radio.context)
        radio.air.wakeAll(radio.hosts, &radio.context)
    }

    // MARK: Servers

    /// Returns a host for a peripheral manager that names none: the one with its preserved state, one without managers,
    /// or a new one.
    mutating func freeHost(_ restoreIdentifier: String?) -> Int {
        if let restoreIdentifier,
            let preserving = radio.hosts.firstIndex(where: { $0.terminatedApps.peripherals[restoreIdentifier] != nil })
        {
            return preserving
        }
        let free = radio.hosts.firstIndex {
            $0.identity.isAnonymous && $0.managers.isEmpty && $0.terminatedApps.peripherals.isEmpty
        }
        if let free {
            let identity = radio.hosts[free].identity
            if let server = radio.hosts[free].server {
                radio.air.devices[server]?.setDeviceName(identity.name, of: identity)
            }
            return free
        }
        var number = 1
        while radio.hosts.contains(where: { $0.identity.name == "peripheral \(number)" }) { number += 1 }
        let description = HostDescription(name: "peripheral \(number)", authorization: radio.hosts.defaultAuthorization)
        addHost(Host(description, isAnonymous: true))
        return radio.hosts.count - 1
    }

    /// Puts a host on the air as a device, unless it is on the air.
    mutating func openServer(of host: Int) {
        guard radio.hosts[host].server == nil else { return }
        let address = radio.hosts[host].identity.airAddress
        let peers = radio.hosts.map { $0.identity.peerID(of: address) }
        do {
            let device = try Device(
                server: radio.hosts[host], number: host, peers: peers, seed: radio.context.random.seed)
            let ref = radio.air.insert(device)
            radio.hosts[host].server = ref
            device.reportAddition(ref, &radio.context)
        } catch { radio.context.log("no peripheral role: \(error)") }
    }

    /// Applies a change of a host's state to its server.
    ///
    /// Below poweredOn, the links and PSMs are lost and advertising pauses; below poweredOff, nothing stays published.
    /// Managers receive no event except the state.
    private mutating func serverStateChanged(_ host: Int) {
        guard let server = radio.hosts[host].server else { return }
        let state = radio.hosts[host].canServe ? radio.hosts[host].adapter.state : .unsupported
        let isOn = state == .poweredOn
        if radio.air.devices[server]?.signal.turn(isOn) == true {
            radio.air.reportChange(of: server, &radio.context)
            if !isOn {
                closeServer(server, isOrderly: state == .poweredOff)
                channels.stopListening(on: host)
            }
        }
        guard state != .poweredOn, state != .poweredOff, let database = radio.air.devices[server]?.server.database
        else { return }
        gatt.remove(database.publishedServices(), of: server, &radio)
        radio.air.devices[server]?.advertiser.freeAll()
        for manager in radio.hosts[host].managers { radio.hosts.managers[manager]?.publication = ManagerPublication() }
        radio.hosts[host].terminatedApps.peripherals = [:]
        radio.air.reportChange(of: server, &radio.context)
    }

    /// Ends the links to a host's server: by disconnecting if the host is switched off, by supervision timeout if its
    /// Bluetooth service is lost.
    private mutating func closeServer(_ server: Ref<Device>, isOrderly: Bool) {
        let open = radio.air.devices[server]?.links ?? []
        lose(server, staysOnAir: true, reason: .local)
        guard isOrderly else { return }
        for link in open {
            radio.context.queue.schedule(
                .remoteClose(link), at: radio.links.connectionEvent(of: link, from: radio.context.now))
        }
    }

    /// Withdraws everything that a removed manager published.
    private mutating func withdrawAll(of ref: Ref<Manager>) {
        guard let host = radio.hosts.managers[ref]?.host, let server = radio.hosts[host].server else { return }
        radio.air.stopAdvertising(ref, at: server, &radio.hosts, &radio.context)
        closeListeners(of: ref, server)
        gatt.withdraw(of: ref, at: server, &radio)
        failRequests(of: ref, server)
    }

    mutating func closeListeners(of ref: Ref<Manager>, _ server: Ref<Device>) {
        channels.stopListening(of: ref)
        for link in radio.air.devices[server]?.links ?? [] { channels.closeAll(of: ref, on: link, &radio) }
    }

    mutating func failRequests(of ref: Ref<Manager>, _ server: Ref<Device>) {
        for link in radio.air.devices[server]?.links ?? [] { gatt.failRequests(of: ref, on: link, &radio) }
    }
}
