import BluetoothBackend

// Hosts and managers: states, scans, connects.
extension World {
    // MARK: Managers

    mutating func addManager(
        _ role: Manager.Role, host: Int?, restoreIdentifier: String? = nil,
        remembering limit: Int = CentralOptions.defaultRememberedPeers
    ) -> Ref<Manager> {
        let ref = managers.insert(Manager(role: role, host: host, restoreIdentifier: restoreIdentifier))
        if let host {
            hosts[host].managers.append(ref)
            hosts[host].remember(atLeast: limit)
        }
        if role == .peripheral, let host { openServer(of: host) }
        return ref
    }

    /// Forgets a manager, in silence.
    mutating func removeManager(_ ref: Ref<Manager>) {
        withdrawAll(of: ref)
        if managers[ref]?.role == .pairing { removeAgent(ref) }
        guard let manager = managers.remove(ref), let host = manager.host else { return }
        hosts[host].managers.removeAll { $0 == ref }
        stopScan(ref, on: host)
        for link in hosts[host].links.values.sorted() { closeChannels(of: ref, on: link) }
        for peer in hosts[host].ledger.remove(ref.packed) {
            hosts[host].connecting.remove(peer)
            if let link = hosts[host].links[peer] { scheduleLocalClose(link) }
        }
        for link in hosts[host].links.values.sorted() { pruneSubscriptions(link) }
    }

    mutating func tellState(_ ref: Ref<Manager>) {
        guard let manager = managers[ref] else { return }
        let hasRole = manager.role != .peripheral || manager.host.map { hosts[$0].canServe } ?? false
        let state = hasRole ? manager.host.map { hosts[$0].state } ?? .unsupported : .unsupported
        guard manager.toldState != state else { return }
        if manager.toldState == nil { restore(ref) }
        managers[ref]?.toldState = state
        switch manager.role {
        case .central: emit(CentralEvent.stateChanged(state), to: ref)
        case .peripheral: emit(PeripheralEvent.stateChanged(state), to: ref)
        case .pairing: break
        }
    }

    /// Tells the managers that know a state of the present one.
    private mutating func tellStates(_ host: Int) {
        for manager in hosts[host].managers where managers[manager]?.toldState != nil { tellState(manager) }
    }

    // MARK: Controls

    mutating func apply(_ control: HostControl, to host: Int) {
        switch control {
        case .power(let isOn): change(host) { $0.isPowered = isOn }
        case .plug(let isPlugged): change(host) { $0.isPlugged = isPlugged }
        case .authorize(let status):
            authorize(status, host)
            // The permission is the app's: what it did not ask a host for, it asked the default one.
            guard hosts[host].name == "default" else { return }
            for other in hosts.indices where hosts[other].isAnonymous { authorize(status, other) }
        case .reset(let duration):
            change(host) { $0.isResetting = true }
            queue.schedule(.adapterBack(host, epoch: hosts[host].epoch), at: now + duration.nanoseconds)
        case .rotateAddress: rotateAddress(of: host)
        case .forget(let peer): forget(peer, on: host)
        case .remember(let peer):
            guard hosts[host].peers[peer] == nil, let device = device(peer, on: host) else { return }
            hosts[host].peers[peer] = Host.KnownPeer(address: device.address)
        case .terminateApp(let identifier): terminateApp(identifier, on: host)
        case .preserveCentral(let state, let identifier):
            hosts[host].terminatedCentrals[identifier] = TerminatedCentral(
                peers: state.peers.map { peer in
                    TerminatedCentral.Peer(
                        id: peer.summary.id, operation: peer.operation, options: ConnectOptions(),
                        services: peer.services, notifying: peer.services.flatMap(\.notifying))
                }, scan: state.scan)
        case .preservePeripheral(let state, let identifier):
            hosts[host].terminatedPeripherals[identifier] = TerminatedPeripheral(
                services: state.services, advertisement: state.advertisement)
        case .setFeature(let feature, let isOn):
            if isOn { hosts[host].features.insert(feature) } else { hosts[host].features.remove(feature) }
            change(host) { _ in }
            wakeAll()
        case .authorizeANCS(let peer, let isAuthorized):
            for lease in hosts[host].ledger.leases(of: peer) where lease.link != nil {
                let manager = Ref<Manager>(packed: lease.manager)
                guard managers.contains(manager) else { continue }
                emit(.ancsAuthorizationChanged(peer: peer, isAuthorized: isAuthorized), to: manager)
            }
        case .bond(let device): bond(host, with: device)
        case .removeBond(let address): removeBond(address, on: host)
        case .connectOtherApp(let peer):
            guard hosts[host].isOn else { return }
            connect(host, otherApp, peer, OperationID(rawValue: 0), ConnectOptions())
        case .disconnectOtherApp(let peer):
            disconnect(host, otherApp, peer)
        }
    }

    private mutating func authorize(_ status: AuthorizationStatus, _ host: Int) {
        guard hosts[host].authorization != status else { return }
        for manager in hosts[host].managers {
            switch managers[manager]?.role {
            case .central?: emit(CentralEvent.authorizationChanged(status), to: manager)
            case .peripheral?: emit(PeripheralEvent.authorizationChanged(status), to: manager)
            case .pairing?, nil: break
            }
        }
        change(host) { $0.authorization = status }
    }

    /// Changes what a host's state follows from, and does what the change of state brings.
    private mutating func change(_ host: Int, _ body: (inout Host) -> Void) {
        let wasOn = hosts[host].isOn
        body(&hosts[host])
        let isOn = hosts[host].state == .poweredOn
        hosts[host].isOn = isOn
        if wasOn, !isOn { handlePowerLoss(host) }
        serverStateChanged(host)
        tellStates(host)
        if !wasOn, isOn { wakeAll() }
    }

    mutating func adapterBack(_ host: Int, _ epoch: UInt32) {
        guard hosts[host].isResetting, hosts[host].epoch == epoch else { return }
        change(host) { $0.isResetting = false }
    }

    /// Ends all that needs power, without a word to the managers.
    private mutating func handlePowerLoss(_ host: Int) {
        hosts[host].epoch += 1
        for manager in hosts[host].managers {
            managers[manager]?.closeAll()
            managers[manager]?.pendingScan = nil
        }
        hosts[host].connecting = []
        for peer in hosts[host].pairingWishes.keys.sorted(by: { $0.description < $1.description }) {
            failPairingWishes(peer, on: host, BackendError(.notConnected, operation: "pair"))
        }
        hosts[host].scanners = []
        scansChanged(host)
        let open = hosts[host].links.values.sorted()
        hosts[host].links = [:]
        for link in open { drop(link) }
        hosts[host].ledger.removeAll()
    }

    private mutating func forget(_ peer: PeerID, on host: Int) {
        guard hosts[host].links[peer] == nil, hosts[host].peers.forget(peer) != nil else { return }
        for index in hosts[host].scanners.indices {
            hosts[host].scanners[index].filter.forget(peer)
            hosts[host].scanners[index].reports = [:]
        }
        for manager in hosts[host].managers where managers[manager]?.role == .central {
            emit(.peerForgotten(peer: peer), to: manager)
        }
        scansChanged(host)
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
            guard let host = managers[ref]?.host, hosts[host].isOn else { return }
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
        hosts[host].scanners.removeAll { $0.manager == ref }
        scansChanged(host)
        noteSilentDevices(for: parameters, on: host)
        lastScan += 1
        managers[ref]?.pendingScan = lastScan
        guard configuration.scanDelay > .zero else { return listen(ref, lastScan, parameters) }
        queue.schedule(
            .listen(ref, lastScan, parameters), at: now + configuration.scanDelay.nanoseconds)
    }

    /// The scanner hears from now on, unless the scan was stopped or another one started.
    mutating func listen(_ ref: Ref<Manager>, _ number: UInt64, _ parameters: ScanParameters) {
        guard managers[ref]?.pendingScan == number, let host = managers[ref]?.host else { return }
        managers[ref]?.pendingScan = nil
        let limit = hosts[host].rememberedPeers ?? CentralOptions.defaultRememberedPeers
        let filter = ScanReportFilter(parameters, remembering: limit)
        hosts[host].scanners.append(Host.Scanner(manager: ref, filter: filter))
        scansChanged(host)
        wakeAll()
    }

    private mutating func stopScan(_ ref: Ref<Manager>, on host: Int) {
        managers[ref]?.pendingScan = nil
        guard hosts[host].ledger.stopScan(ref.packed) else { return }
        hosts[host].scanners.removeAll { $0.manager == ref }
        scansChanged(host)
    }

    private mutating func scansChanged(_ host: Int) {
        hosts[host].scanEpoch += 1
        hosts[host].wantsDuplicates = hosts[host].scanners.contains { $0.filter.parameters.allowDuplicates }
    }

    private func device(_ peer: PeerID, on host: Int) -> Device? {
        devices.refsInAnyOrder.first { devices[$0]?.identities[host] == peer }.flatMap { devices[$0] }
    }

    /// What a host remembers of the given peers.
    func knownPeers(_ ids: [PeerID], host: Int?) -> [PeerSummary] {
        guard let host else { return [] }
        return ids.compactMap { id in
            hosts[host].peers[id].map { PeerSummary(id: id, name: $0.name, address: $0.address.description) }
        }
    }

    /// The peers that are linked to a host and offer one of the services.
    func connectedPeers(offering services: [BluetoothUUID], host: Int?) -> [PeerSummary] {
        guard let host else { return [] }
        let found = hosts[host].links.sorted { $0.value < $1.value }.filter { _, link in
            guard let link = links[link], !link.isClosing, let device = devices[link.device] else { return false }
            return device.database.services.contains { id in
                device.database[id].map { services.contains($0.uuid) } ?? false
            }
        }
        return knownPeers(found.map(\.key), host: host)
    }
}
