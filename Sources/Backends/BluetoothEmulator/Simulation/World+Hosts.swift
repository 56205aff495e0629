import BluetoothBackend

// Hosts and managers: states, scans, connects.
extension World {
    // MARK: Managers

    mutating func addManager(
        _ role: Manager.Role, host: Int?, restoreIdentifier: String? = nil,
        remembering limit: Int = RoleOptions.defaultRememberedPeers
    ) -> Ref<Manager> {
        let manager = Manager(role: role, host: host, restoreIdentifier: restoreIdentifier)
        let ref = hosts.insert(manager, remembering: limit, &context)
        if role == .peripheral, let host { openServer(of: host) }
        return ref
    }

    /// Removes a manager, without an event.
    mutating func removeManager(_ ref: Ref<Manager>) {
        withdrawAll(of: ref)
        if hosts.managers[ref]?.role == .pairing { removeAgent(ref) }
        guard let manager = hosts.remove(ref, &context), let host = manager.host else { return }
        stopScan(ref, on: host)
        for link in hosts[host].links.values.sorted() { channels.closeAll(of: ref, on: link, links, &context) }
        for peer in hosts[host].ledger.remove(ref.packed) {
            stopConnecting(peer, on: host)
            if let link = hosts[host].links[peer] { links.scheduleLocalClose(link, &context) }
        }
        for link in hosts[host].links.values.sorted() { pruneSubscriptions(link) }
    }

    mutating func reportState(_ ref: Ref<Manager>) {
        guard let manager = hosts.managers[ref] else { return }
        let state = hosts.state(of: manager)
        guard manager.reportedState != state else { return }
        if manager.reportedState == nil { restore(ref) }
        hosts.managers[ref]?.reportedState = state
        switch manager.role {
        case .central: context.emit(CentralEvent.stateChanged(state), to: ref)
        case .peripheral: context.emit(PeripheralEvent.stateChanged(state), to: ref)
        case .pairing: break
        }
    }

    // MARK: Controls

    mutating func apply(_ control: HostControl, to host: Int) {
        switch control {
        case .power(let isOn): change(host) { $0.isPowered = isOn }
        case .plug(let isPlugged): change(host) { $0.isPlugged = isPlugged }
        case .setState(let state): change(host) { $0.shownState = state }
        case .setAdvertising(let advertising): setAdvertising(advertising, of: host)
        case .setMaximumMTU(let mtu): hosts[host].adapter.maximumMTU = mtu
        case .authorize(let status):
            authorize(status, host)
            // The permission belongs to the app; hosts of managers that named none follow the default host's.
            guard hosts[host].identity.name == "default" else { return }
            for other in hosts.indices where hosts[other].identity.isAnonymous { authorize(status, other) }
        case .reset(let duration):
            change(host) { $0.isResetting = true }
            context.queue.schedule(
                .adapterBack(host, epoch: hosts[host].adapter.epoch), at: context.now + duration.nanoseconds)
        case .rotateAddress: air.rotateAddress(ofHost: host, security, &hosts, &context)
        case .forget(let peer): forget(peer, on: host)
        case .remember(let peer):
            guard hosts[host].peers[peer] == nil, let device = air.device(peer, on: host).flatMap({ air.devices[$0] })
            else { return }
            hosts[host].peers[peer] = KnownPeer(address: device.identity.address)
        case .terminateApp(let identifier): terminateApp(identifier, on: host)
        case .preserveCentral(let state, let identifier):
            hosts[host].terminatedApps.centrals[identifier] = TerminatedCentral(
                peers: state.peers.map { peer in
                    TerminatedCentral.Peer(
                        id: peer.summary.id, operation: peer.operation, options: ConnectOptions(),
                        services: peer.services, notifying: peer.services.flatMap(\.notifying))
                }, scan: state.scan)
        case .preservePeripheral(let state, let identifier):
            hosts[host].terminatedApps.peripherals[identifier] = TerminatedPeripheral(
                publication: ManagerPublication(services: state.services, advertisement: state.advertisement))
        case .setFeature(let feature, let isOn):
            change(host) { adapter in
                if isOn { adapter.features.insert(feature) } else { adapter.features.remove(feature) }
            }
            air.wakeAll(hosts, &context)
        case .authorizeANCS(let peer, let isAuthorized):
            hosts.emit(toLeasesOf: peer, on: host, &context) { _ in
                .ancsAuthorizationChanged(peer: peer, isAuthorized: isAuthorized)
            }
        case .bond(let device): bond(host, with: device)
        case .removeBond(let address): removeBond(address, on: host)
        case .connectOtherApp(let peer, let isWithoutAdvertising):
            guard hosts[host].adapter.isOn else { return }
            if isWithoutAdvertising { return connectOtherAppAtOnce(peer, on: host) }
            connect(host, otherApp, peer, OperationID(rawValue: 0), ConnectOptions())
        case .disconnectOtherApp(let peer): disconnect(host, otherApp, peer)
        case .disconnectCentral(let peer, let isForSecurity):
            disconnectCentral(peer, from: host, isForSecurity: isForSecurity)
        }
    }

    private mutating func authorize(_ status: AuthorizationStatus, _ host: Int) {
        guard hosts[host].adapter.authorization != status else { return }
        for manager in hosts[host].managers {
            switch hosts.managers[manager]?.role {
            case .central?: context.emit(CentralEvent.authorizationChanged(status), to: manager)
            case .peripheral?: context.emit(PeripheralEvent.authorizationChanged(status), to: manager)
            case .pairing?, nil: break
            }
        }
        change(host) { $0.authorization = status }
    }

    /// Changes a host's adapter, and handles the change of its state.
    private mutating func change(_ host: Int, _ body: (inout HostAdapter) -> Void) {
        let wasOn = hosts[host].adapter.isOn
        hosts[host].adapter.change(body)
        hosts.reportChange(of: host, &context)
        let isOn = hosts[host].adapter.isOn
        if wasOn, !isOn { handlePowerLoss(host) }
        serverStateChanged(host)
        for manager in hosts[host].managers where hosts.managers[manager]?.reportedState != nil { reportState(manager) }
        if !wasOn, isOn { air.wakeAll(hosts, &context) }
    }

    mutating func adapterBack(_ host: Int, _ epoch: UInt32) {
        guard hosts[host].adapter.isResetting, hosts[host].adapter.epoch == epoch else { return }
        change(host) { $0.isResetting = false }
    }

    /// Ends everything that needs power, without events to the hosts.managers.
    private mutating func handlePowerLoss(_ host: Int) {
        hosts[host].adapter.epoch += 1
        for manager in hosts[host].managers {
            hosts.managers[manager]?.closeAll()
            hosts.managers[manager]?.pendingScan = nil
        }
        hosts[host].connecting = []
        security[host].stopWaitingForAll(&context)
        for peer in security[host].requestedPeers {
            failPairingRequests(peer, on: host, BackendError(.notConnected, operation: "pair"))
        }
        hosts[host].scanning.removeAll()
        let open = hosts[host].links.values.sorted()
        hosts[host].links = [:]
        for link in open { drop(link, reason: .local) }
        hosts[host].ledger.removeAll()
    }

    private mutating func forget(_ peer: PeerID, on host: Int) {
        guard hosts[host].links[peer] == nil, hosts[host].peers.forget(peer) != nil else { return }
        hosts[host].scanning.forget(peer)
        hosts.emit(toCentralsOf: host, .peerForgotten(peer: peer), &context)
        air.wakeAll(hosts, &context)
    }

    // MARK: Commands

    mutating func handle(_ command: CentralCommand, of ref: Ref<Manager>) {
        switch command {
        case .request(let link, let operation, let request):
            enqueue(.request(request), as: operation, of: ref, on: link)
        case .writeCommand(let link, let attribute, let value):
            enqueueCommand(attribute, value, of: ref, on: link)
        default:
            guard let host = hosts.managers[ref]?.host, hosts[host].adapter.isOn else { return }
            handleWhenOn(command, of: ref, on: host)
        }
    }

    private mutating func handleWhenOn(_ command: CentralCommand, of ref: Ref<Manager>, on host: Int) {
        switch command {
        case .startScan(let parameters): startScan(ref, on: host, parameters)
        case .stopScan: stopScan(ref, on: host)
        case .connect(let peer, let operation, let options): connect(host, ref, peer, operation, options)
        case .disconnect(let peer): disconnect(host, ref, peer)
        case .setConnectionEventFilter(let filter): hosts.managers[ref]?.connectionEventFilter = filter
        case .channel(let channel, let command):
            channels.handle(command, on: channel, of: ref, &links, &air, &context)
        case .request, .writeCommand: break  // handled in any state
        }
    }

    private mutating func startScan(_ ref: Ref<Manager>, on host: Int, _ parameters: ScanParameters) {
        hosts[host].ledger.startScan(ref.packed, parameters)
        hosts[host].scanning.remove(ref)
        air.noteSilentDevices(for: parameters, on: host, &context)
        let number = context.identifiers.nextScan()
        hosts.managers[ref]?.pendingScan = number
        guard context.configuration.scanDelay > .zero else { return listen(ref, number, parameters) }
        context.queue.schedule(
            .listen(ref, number, parameters), at: context.now + context.configuration.scanDelay.nanoseconds)
    }

    /// Begins to receive packets for a scan, unless it was stopped or replaced.
    mutating func listen(_ ref: Ref<Manager>, _ number: UInt64, _ parameters: ScanParameters) {
        guard hosts.managers[ref]?.pendingScan == number, let host = hosts.managers[ref]?.host else { return }
        hosts.managers[ref]?.pendingScan = nil
        hosts[host].scanning.add(ref, ScanReportFilter(parameters, remembering: hosts[host].peers.limit))
        air.wakeAll(hosts, &context)
    }

    private mutating func stopScan(_ ref: Ref<Manager>, on host: Int) {
        hosts.managers[ref]?.pendingScan = nil
        guard hosts[host].ledger.stopScan(ref.packed) else { return }
        hosts[host].scanning.remove(ref)
    }

    /// Returns those of the given peers that a manager's host remembers.
    func knownPeers(_ ids: [PeerID], of ref: Ref<Manager>) -> [PeerSummary] {
        hosts.managers[ref]?.host.map { hosts.knownPeers(ids, of: $0) } ?? []
    }

    /// Returns the peers that are linked to a manager's host and offer one of the services.
    func connectedPeers(offering services: [BluetoothUUID], of ref: Ref<Manager>) -> [PeerSummary] {
        guard let host = hosts.managers[ref]?.host else { return [] }
        let found = hosts[host].links.sorted { $0.value < $1.value }.filter { _, link in
            guard let link = links[link], !link.isClosing, let device = air.devices[link.device] else { return false }
            return device.server.database.offers(services)
        }
        return hosts.knownPeers(found.map(\.key), of: host)
    }
}
