import BluetoothBackend
import BluetoothSupport

// Hosts and managers: their controls, their states, and the devices that peripheral managers form.
extension World {
    /// Adds a host, which learns of devices when it hears them.
    mutating func addHost(_ host: Host) {
        lower.hosts.append(host)
        let number = lower.hosts.count - 1
        if lower.context.tapped.contains(.hosts) { lower.context.report(.hostAdded(host.tapped(number))) }
        if let period = host.identity.rotation {
            lower.context.queue.schedule(
                .rotateHostAddress(number), at: lower.context.now + period.nanoseconds, isPeriodic: true)
        }
        for ref in lower.air.devices.refs { lower.air.devices[ref]?.identity.learn(host.identity) }
    }

    // MARK: Managers

    mutating func addManager(
        _ role: Manager.Role, host: Int?, isExternal: Bool = false, restoreIdentifier: String? = nil,
        remembering limit: Int = RoleOptions.defaultRememberedPeers
    ) -> Ref<Manager> {
        let manager = Manager(
            role: role, host: host, isExternal: isExternal, restoreIdentifier: restoreIdentifier)
        let ref = lower.hosts.insert(manager, remembering: limit, &lower.context)
        // The devices of a host outside of the emulator are its advertising sets.
        if role == .peripheral, !isExternal, let host { openServer(of: host) }
        return ref
    }

    /// Removes a manager, without an event.
    mutating func removeManager(_ ref: Ref<Manager>) {
        guard let manager = lower.hosts.managers[ref] else { return }
        switch manager.role {
        case .peripheral: withdrawAll(of: ref)
        case .pairing: removeAgent(ref)
        case .central: break
        }
        lower.hosts.remove(ref, &lower.context)
        guard let host = manager.host else { return }
        lower.hosts.stopScan(ref, on: host)
        for link in lower.hosts[host].links.values.sorted() { channels.closeAll(of: ref, on: link, &lower) }
        for peer in lower.hosts[host].ledger.remove(ref.packed) {
            stopConnecting(peer, on: host)
            if let link = lower.hosts[host].links[peer] { lower.links.close(link, .local, &lower.context) }
        }
        for link in lower.hosts[host].links.values.sorted() { pruneSubscriptions(link) }
    }

    mutating func reportState(_ ref: Ref<Manager>) {
        guard let manager = lower.hosts.managers[ref] else { return }
        let state = lower.hosts.state(of: manager)
        guard manager.reportedState != state else { return }
        if manager.reportedState == nil { restore(ref) }
        lower.hosts.managers[ref]?.reportedState = state
        switch manager.role {
        case .central: lower.context.emit(CentralEvent.stateChanged(state), to: ref)
        case .peripheral: lower.context.emit(PeripheralEvent.stateChanged(state), to: ref)
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
            lower.air.setAdvertising(advertising, of: host, &lower.hosts, &lower.context)
        case .setMaximumMTU(let mtu): lower.hosts[host].adapter.maximumMTU = mtu
        case .setAirAddress(let address):
            lower.hosts[host].identity.airAddress = address
            lower.hosts.reportChange(of: host, &lower.context)
        case .setLinkParameters(let parameters): lower.hosts[host].linkParameters = parameters
        case .setPort(let port):
            lower.hosts[host].openPort = port
            lower.hosts.reportChange(of: host, &lower.context)
        case .authorize(let status):
            authorize(status, host)
            // The permission belongs to the app; hosts of managers that named none follow the default host's.
            guard lower.hosts[host].identity.name == "default" else { return }
            for other in lower.hosts.indices where lower.hosts[other].identity.isAnonymous { authorize(status, other) }
        case .reset(let duration):
            change(host) { $0.isResetting = true }
            lower.context.queue.schedule(
                .adapterBack(host, epoch: lower.hosts[host].adapter.epoch), at: lower.context.now + duration.nanoseconds
            )
        case .rotateAddress: lower.air.rotateAddress(ofHost: host, security, &lower.hosts, &lower.context)
        case .forget(let peer): forget(peer, on: host)
        case .remember(let peer):
            guard lower.hosts[host].peers[peer] == nil, let (_, device) = lower.air.device(peer, on: host) else {
                return
            }
            lower.hosts[host].peers[peer] = KnownPeer(address: device.identity.address)
        case .terminateApp(let identifier): terminateApp(identifier, on: host)
        case .preserveCentral(let state, let identifier):
            lower.hosts[host].terminatedApps.centrals[identifier] = TerminatedCentral(
                peers: state.peers.map { peer in
                    TerminatedCentral.Peer(
                        id: peer.summary.id, operation: peer.operation, options: ConnectOptions(),
                        services: peer.services, notifying: peer.services.flatMap(\.notifying))
                }, scan: state.scan)
        case .preservePeripheral(let state, let identifier):
            lower.hosts[host].terminatedApps.peripherals[identifier] = TerminatedPeripheral(
                publication: ManagerPublication(services: state.services), advertisement: state.advertisement)
        case .setFeature(let feature, let isOn):
            change(host) { adapter in
                if isOn { adapter.features.insert(feature) } else { adapter.features.remove(feature) }
            }
            lower.air.wakeAll(lower.hosts, &lower.context)
        case .authorizeANCS(let peer, let isAuthorized):
            lower.hosts.emit(toLeasesOf: peer, on: host, &lower.context) { _ in
                .ancsAuthorizationChanged(peer: peer, isAuthorized: isAuthorized)
            }
        case .bond(let device): bond(host, with: device)
        case .removeBond(let address): removeBond(address, on: host)
        case .connectOtherApp(let peer, let isWithoutAdvertising):
            guard lower.hosts[host].adapter.isOn else { return }
            if isWithoutAdvertising { return connectOtherAppAtOnce(peer, on: host) }
            connect(host, Hosts.otherApp, peer, OperationID(rawValue: 0), ConnectOptions())
        case .disconnectOtherApp(let peer): disconnect(host, Hosts.otherApp, peer)
        case .disconnectCentral(let peer, let isForSecurity):
            for (ref, _) in lower.links.serverLinks(of: lower.hosts[host], with: peer, lower.air) {
                lower.links.close(ref, isForSecurity ? .authentication : .remote, &lower.context)
            }
        case .requestSecurity(let peer):
            for (ref, link) in lower.links.serverLinks(of: lower.hosts[host], with: peer, lower.air)
            where link.security.refusal != nil { startPairing(ref) }
        }
    }

    private mutating func authorize(_ status: AuthorizationStatus, _ host: Int) {
        guard lower.hosts[host].adapter.authorization != status else { return }
        for (ref, manager) in lower.hosts.managers(of: host) {
            switch manager.role {
            case .central: lower.context.emit(CentralEvent.authorizationChanged(status), to: ref)
            case .peripheral: lower.context.emit(PeripheralEvent.authorizationChanged(status), to: ref)
            case .pairing: break
            }
        }
        change(host) { $0.authorization = status }
    }

    /// Changes a host's adapter, and handles the change of its state.
    private mutating func change(_ host: Int, _ body: (inout HostAdapter) -> Void) {
        let wasOn = lower.hosts[host].adapter.isOn
        lower.hosts[host].adapter.change(body)
        lower.hosts.reportChange(of: host, &lower.context)
        let isOn = lower.hosts[host].adapter.isOn
        if wasOn, !isOn { handlePowerLoss(host) }
        serverStateChanged(host)
        for (ref, manager) in lower.hosts.managers(of: host) where manager.reportedState != nil { reportState(ref) }
        if !wasOn, isOn { lower.air.wakeAll(lower.hosts, &lower.context) }
    }

    mutating func adapterBack(_ host: Int, _ epoch: UInt32) {
        guard lower.hosts[host].adapter.isResetting, lower.hosts[host].adapter.epoch == epoch else { return }
        change(host) { $0.isResetting = false }
    }

    /// Ends everything that needs power, without events to the managers.
    private mutating func handlePowerLoss(_ host: Int) {
        lower.hosts[host].adapter.epoch += 1
        for manager in lower.hosts[host].managers { lower.hosts.managers[manager]?.lostPower() }
        lower.hosts[host].connecting = []
        security[host].stopWaitingForAll(&lower.context)
        for peer in security[host].requestedPeers {
            failPairingRequests(peer, on: host, BackendError(.notConnected, operation: "pair"))
        }
        lower.hosts[host].scanning.removeAll()
        let open = lower.hosts[host].links.values.sorted()
        lower.hosts[host].links = [:]
        for link in open { drop(link, reason: .local) }
        lower.hosts[host].ledger.removeAll()
    }

    private mutating func forget(_ peer: PeerID, on host: Int) {
        guard lower.hosts[host].links[peer] == nil, lower.hosts[host].peers.forget(peer) != nil else { return }
        lower.hosts[host].scanning.forget(peer)
        lower.hosts.emit(toCentralsOf: host, .peerForgotten(peer: peer), &lower.context)
        lower.air.wakeAll(lower.hosts, &lower.context)
    }

    // MARK: Servers

    /// Returns a host for a peripheral manager that names none: the one with its preserved state, one without managers,
    /// or a new one.
    mutating func freeHost(_ restoreIdentifier: String?) -> Int {
        if let restoreIdentifier,
            let preserving = lower.hosts.firstIndex(where: { $0.terminatedApps.peripherals[restoreIdentifier] != nil })
        {
            return preserving
        }
        let free = lower.hosts.firstIndex {
            $0.identity.isAnonymous && $0.managers.isEmpty && $0.terminatedApps.peripherals.isEmpty
        }
        if let free {
            let identity = lower.hosts[free].identity
            if let server = lower.hosts[free].server {
                lower.air.devices[server]?.setDeviceName(identity.name, of: identity)
            }
            return free
        }
        var number = 1
        while lower.hosts.contains(where: { $0.identity.name == "peripheral \(number)" }) { number += 1 }
        let description = HostDescription(name: "peripheral \(number)", authorization: lower.hosts.defaultAuthorization)
        addHost(Host(description, isAnonymous: true))
        return lower.hosts.count - 1
    }

    /// Puts a host on the air as a device, unless it is on the air.
    ///
    /// - Parameter known: The identifier under which a host knows it already.
    mutating func openServer(of host: Int, knownAs known: (peer: PeerID, host: Int)? = nil) {
        guard lower.hosts[host].server == nil else { return }
        let address = lower.hosts[host].identity.airAddress
        var peers = lower.hosts.map { $0.identity.peerID(of: address) }
        if let known { peers[known.host] = known.peer }
        do {
            let device = try Device(
                server: lower.hosts[host], number: host, peers: peers, seed: lower.context.random.seed)
            let ref = lower.air.insert(device)
            lower.hosts[host].server = ref
            device.reportAddition(ref, &lower.context)
        } catch { lower.context.log("no peripheral role: \(error)") }
    }

    /// Applies a change of a host's state to its server.
    ///
    /// Below poweredOn, the links and PSMs are lost and advertising pauses; below poweredOff, nothing stays published.
    /// Managers receive no event except the state.
    private mutating func serverStateChanged(_ host: Int) {
        guard let server = lower.hosts[host].server else { return }
        let state = lower.hosts[host].canServe ? lower.hosts[host].adapter.state : .unsupported
        let isOn = state == .poweredOn
        if lower.air.devices[server]?.turn(isOn, server, &lower.context) == true, !isOn {
            closeServer(server, isOrderly: state == .poweredOff)
            channels.stopListening(on: host)
        }
        guard state != .poweredOn, state != .poweredOff, let device = lower.air.devices[server] else { return }
        gatt.remove(device.server.database.publishedServices(), of: server, &lower)
        for manager in lower.hosts[host].managers { lower.hosts.managers[manager]?.publication = ManagerPublication() }
        lower.hosts[host].terminatedApps.peripherals = [:]
        lower.air.devices[server]?.stopAdvertising(server, &lower.context)
    }

    /// Ends the links to a host's server: by disconnecting if the host is switched off, by supervision timeout if its
    /// Bluetooth service is lost.
    private mutating func closeServer(_ server: Ref<Device>, isOrderly: Bool) {
        let open = lower.air.links(of: server)
        lose(server, staysOnAir: true, reason: .local)
        guard isOrderly else { return }
        for link in open { lower.links.close(link, .remote, &lower.context) }
    }

    /// Withdraws everything that a removed manager published.
    private mutating func withdrawAll(of ref: Ref<Manager>) {
        guard let host = lower.hosts.host(of: ref), let server = lower.hosts[host].server else { return }
        lower.air.stopAdvertising(ref, at: server, &lower.hosts, &lower.context)
        closeListeners(of: ref, server)
        gatt.withdraw(of: ref, at: server, &lower)
        failRequests(of: ref, server)
    }

    mutating func closeListeners(of ref: Ref<Manager>, _ server: Ref<Device>) {
        channels.stopListening(of: ref)
        for link in lower.air.links(of: server) { channels.closeAll(of: ref, on: link, &lower) }
    }

    mutating func failRequests(of ref: Ref<Manager>, _ server: Ref<Device>) {
        for link in lower.air.links(of: server) { gatt.failRequests(of: ref, on: link, &lower) }
    }
}
