import BluetoothBackend

// Hosts and managers: states, scans, connects.
extension World {
    // MARK: Managers

    mutating func addManager(
        _ role: Manager.Role, host: Int?, restoreIdentifier: String? = nil,
        remembering limit: Int = RoleOptions.defaultRememberedPeers
    ) -> Ref<Manager> {
        let ref = managers.insert(Manager(role: role, host: host, restoreIdentifier: restoreIdentifier))
        context.receivers.insert(ref)
        if let host {
            context.trace.learn(ref, role, on: hosts[host].identity.name)
            hosts[host].managers.append(ref)
            hosts[host].peers.remember(atLeast: limit)
        }
        if role == .peripheral, let host { openServer(of: host) }
        return ref
    }

    /// Removes a manager, without an event.
    mutating func removeManager(_ ref: Ref<Manager>) {
        withdrawAll(of: ref)
        if managers[ref]?.role == .pairing { removeAgent(ref) }
        context.receivers.remove(ref)
        guard let manager = managers.remove(ref), let host = manager.host else { return }
        hosts[host].managers.removeAll { $0 == ref }
        stopScan(ref, on: host)
        for link in hosts[host].links.values.sorted() { closeChannels(of: ref, on: link) }
        for peer in hosts[host].ledger.remove(ref.packed) {
            stopConnecting(peer, on: host)
            if let link = hosts[host].links[peer] { scheduleLocalClose(link) }
        }
        for link in hosts[host].links.values.sorted() { pruneSubscriptions(link) }
    }

    mutating func reportState(_ ref: Ref<Manager>) {
        guard let manager = managers[ref] else { return }
        let hasRole = manager.role != .peripheral || manager.host.map { hosts[$0].canServe } ?? false
        let state = hasRole ? manager.host.map { hosts[$0].adapter.state } ?? .unsupported : .unsupported
        guard manager.reportedState != state else { return }
        if manager.reportedState == nil { restore(ref) }
        managers[ref]?.reportedState = state
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
        case .rotateAddress: rotateAddress(of: host)
        case .forget(let peer): forget(peer, on: host)
        case .remember(let peer):
            guard hosts[host].peers[peer] == nil, let device = device(peer, on: host).flatMap({ devices[$0] })
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
            wakeAll()
        case .authorizeANCS(let peer, let isAuthorized):
            emit(toLeasesOf: peer, on: host) { _ in .ancsAuthorizationChanged(peer: peer, isAuthorized: isAuthorized) }
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
            switch managers[manager]?.role {
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
        reportChange(ofHost: host)
        let isOn = hosts[host].adapter.isOn
        if wasOn, !isOn { handlePowerLoss(host) }
        serverStateChanged(host)
        for manager in hosts[host].managers where managers[manager]?.reportedState != nil { reportState(manager) }
        if !wasOn, isOn { wakeAll() }
    }

    mutating func adapterBack(_ host: Int, _ epoch: UInt32) {
        guard hosts[host].adapter.isResetting, hosts[host].adapter.epoch == epoch else { return }
        change(host) { $0.isResetting = false }
    }

    /// Ends everything that needs power, without events to the managers.
    private mutating func handlePowerLoss(_ host: Int) {
        hosts[host].adapter.epoch += 1
        for manager in hosts[host].managers {
            managers[manager]?.closeAll()
            managers[manager]?.pendingScan = nil
        }
        hosts[host].connecting = []
        for token in hosts[host].pairing.encryptionTimeouts.values { context.queue.cancel(token) }
        hosts[host].pairing.encryptionTimeouts = [:]
        for peer in hosts[host].pairing.requestedPeers {
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
        for manager in hosts[host].managers where managers[manager]?.role == .central {
            context.emit(.peerForgotten(peer: peer), to: manager)
        }
        wakeAll()
    }

    // MARK: Commands

    mutating func handle(_ command: CentralCommand, of ref: Ref<Manager>) {
        switch command {
        case .request(let link, let operation, let request):
            enqueue(.request(request), as: operation, of: ref, on: link)
        case .writeCommand(let link, let attribute, let value):
            enqueueCommand(attribute, value, of: ref, on: link)
        default:
            guard let host = managers[ref]?.host, hosts[host].adapter.isOn else { return }
            handleWhenOn(command, of: ref, on: host)
        }
    }

    private mutating func handleWhenOn(_ command: CentralCommand, of ref: Ref<Manager>, on host: Int) {
        switch command {
        case .startScan(let parameters): startScan(ref, on: host, parameters)
        case .stopScan: stopScan(ref, on: host)
        case .connect(let peer, let operation, let options): connect(host, ref, peer, operation, options)
        case .disconnect(let peer): disconnect(host, ref, peer)
        case .setConnectionEventFilter(let filter): managers[ref]?.connectionEventFilter = filter
        case .channel(let channel, let command): handle(command, on: channel, of: ref)
        case .request, .writeCommand: break  // handled in any state
        }
    }

    private mutating func startScan(_ ref: Ref<Manager>, on host: Int, _ parameters: ScanParameters) {
        hosts[host].ledger.startScan(ref.packed, parameters)
        hosts[host].scanning.remove(ref)
        noteSilentDevices(for: parameters, on: host)
        let number = context.identifiers.nextScan()
        managers[ref]?.pendingScan = number
        guard context.configuration.scanDelay > .zero else { return listen(ref, number, parameters) }
        context.queue.schedule(
            .listen(ref, number, parameters), at: context.now + context.configuration.scanDelay.nanoseconds)
    }

    /// Begins to receive packets for a scan, unless it was stopped or replaced.
    mutating func listen(_ ref: Ref<Manager>, _ number: UInt64, _ parameters: ScanParameters) {
        guard managers[ref]?.pendingScan == number, let host = managers[ref]?.host else { return }
        managers[ref]?.pendingScan = nil
        hosts[host].scanning.add(ref, ScanReportFilter(parameters, remembering: hosts[host].peers.limit))
        wakeAll()
    }

    private mutating func stopScan(_ ref: Ref<Manager>, on host: Int) {
        managers[ref]?.pendingScan = nil
        guard hosts[host].ledger.stopScan(ref.packed) else { return }
        hosts[host].scanning.remove(ref)
    }

    func device(_ peer: PeerID, on host: Int) -> Ref<Device>? {
        devices.refsInAnyOrder.first { devices[$0]?.identity.peers[host] == peer }
    }

    /// Returns those of the given peers that a host remembers.
    func knownPeers(_ ids: [PeerID], host: Int?) -> [PeerSummary] {
        guard let host else { return [] }
        return ids.compactMap { id in
            hosts[host].peers[id].map { PeerSummary(id: id, name: $0.name, address: $0.address.description) }
        }
    }

    /// Returns the peers that are linked to a host and offer one of the services.
    func connectedPeers(offering services: [BluetoothUUID], host: Int?) -> [PeerSummary] {
        guard let host else { return [] }
        let found = hosts[host].links.sorted { $0.value < $1.value }.filter { _, link in
            guard let link = links[link], !link.isClosing else { return false }
            return devices[link.device]?.server.database.offers(services) == true
        }
        return knownPeers(found.map(\.key), host: host)
    }
}
