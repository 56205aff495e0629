#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The adapter's state, and what ends with it.
extension CentralHost {
    mutating func activate(_ manager: HostLedger.Manager) {
        managers[manager] = Manager()
        tell(manager, state)
    }

    mutating func invalidate(_ manager: HostLedger.Manager) {
        guard managers[manager] != nil else { return }
        let wasScanning = ledger.scanners.contains { $0.manager == manager }
        for peer in ledger.wantedPeers { giveUp(manager, peer, tellsNobody: true) }
        _ = ledger.remove(manager)
        managers[manager] = nil
        if wasScanning { scansChanged(restart: false) }
    }

    /// An unknown state is no news: the first event is the first definite one.
    private mutating func tell(_ manager: HostLedger.Manager, _ state: AdapterState) {
        guard state != .unknown, managers[manager]?.state != state else { return }
        managers[manager]?.state = state
        deliver(manager, .stateChanged(state))
    }

    mutating func daemonChanged(_ phase: DaemonPhase) {
        let wasDenied = daemon == .denied
        daemon = phase
        if phase != .ready {
            tree = ObjectTree()
            adapter = nil
            directory.forgetObjects()
        }
        if wasDenied != (phase == .denied) {
            for manager in managers.keys.sorted() {
                deliver(manager, .authorizationChanged(phase == .denied ? .denied : .allowed))
            }
        }
        switch phase {
        case .lost: if !isComebackExpected { expectComeback(within: timings.daemonComeback) }
        case .absent where isComebackExpected: break
        case .probing, .absent, .denied: isComebackExpected = false
        // A daemon that was just started finds its adapters a little later.
        case .ready:
            if adapter == nil { expectComeback(within: adapterAddress == nil ? timings.arrival : timings.comeback) }
        }
        // The state of a daemon that has just come follows from its snapshot.
        if phase != .ready { updateState() }
    }

    mutating func adapterChanged(_ path: ObjectPath, _ changes: Adapter1.Changes) {
        if !changes.isDisjoint(with: [.power, .roles, .address]) { updateState() }
        guard path == adapter, changes.contains(.discovering), tree.adapters[path]?.isDiscovering == false else {
            return
        }
        if discovery.discoveringEnded() { start(.discoveryRetry, timings.discoveryRetry) }
    }

    /// The adapter may have been unplugged, or reset, alone or with the daemon.
    private mutating func expectComeback(within delay: Duration) {
        isComebackExpected = true
        start(.comeback, delay)
    }

    // MARK: State

    mutating func updateState() {
        if daemon == .ready { chooseAdapter() }
        let new = currentState
        guard new != state else { return }
        let wasOn = state == .poweredOn
        state = new
        if wasOn { powerWent() }
        for manager in managers.keys.sorted() { tell(manager, new) }
        if new == .poweredOn { noteDevices() }
    }

    private var currentState: AdapterState {
        switch daemon {
        case .probing: return .unknown
        case .denied: return .unauthorized
        case .absent, .lost: return isComebackExpected ? .resetting : .unsupported
        case .ready: break
        }
        guard let adapter, let object = tree.adapters[adapter] else {
            guard isComebackExpected else { return .unsupported }
            return adapterAddress == nil ? .unknown : .resetting
        }
        guard object.supportsCentral else { return .unsupported }
        // BlueZ pitfall: an adapter that rfkill blocks cannot be switched on
        // (https://github.com/bluez/bluez/issues/213). It is off, and switching is the user's business.
        return object.isPowered ? .poweredOn : .poweredOff
    }

    /// Keeps to the adapter once chosen, by its address: its number may change when it comes back.
    private mutating func chooseAdapter() {
        if let adapter, tree.adapters[adapter] != nil { return }
        if adapter != nil {
            adapter = nil
            directory.forgetObjects()
            expectComeback(within: timings.comeback)
        }
        guard let path = candidate, let object = tree.adapters[path] else { return }
        isComebackExpected = false
        stop(.comeback)
        if adapterAddress != object.address { directory = PeerDirectory(adapterAddress: object.address) }
        adapter = path
        adapterAddress = object.address
    }

    private var candidate: ObjectPath? {
        // hci2 comes before hci10.
        let paths = tree.adapters.keys.sorted { ($0.text.utf8.count, $0) < ($1.text.utf8.count, $1) }
        func first(_ condition: (ObjectPath) -> Bool) -> ObjectPath? { paths.first(where: condition) }
        switch selector {
        case .name(let name): return first { $0.lastElement == name }
        case .address(let address): return first { tree.adapters[$0]?.address == address }
        case .any: break
        }
        if let adapterAddress {
            if let known = first({ tree.adapters[$0]?.address == adapterAddress }) { return known }
            // It may come back; only then another one is taken.
            if isComebackExpected { return nil }
        }
        return first { tree.adapters[$0]?.isPowered == true && tree.adapters[$0]?.supportsCentral == true }
            ?? first { tree.adapters[$0]?.supportsCentral == true } ?? paths.first
    }

    /// All that needs power is over, and the state's event says so for all of it.
    private mutating func powerWent() {
        // BlueZ keeps subscriptions for the next link; see `stopNotifying`.
        if daemon == .ready, adapter != nil { for link in links.values { stopNotifying(link) } }
        for peer in links.keys { forget(linkTimersOf: peer) }
        for timer in timers where timer != .comeback { stop(timer) }
        abortChannels()
        for peer in links.keys { closeSockets(of: peer) }
        ledger.removeAll()
        scan = nil
        links = [:]
        calls = [:]
        discovery.reset()
        dials.reset()
        for manager in managers.keys { managers[manager]?.filter = nil }
    }

    // MARK: Devices

    /// The adapter's devices, when it is there for the first time or again.
    private mutating func noteDevices() {
        for (path, device) in tree.devices where isOurs(path) { directory.note(path, device, isNamed: true) }
    }

    /// BlueZ pitfall: `hci1` begins the text of `hci10`, too (https://github.com/hbldh/bleak/issues/2012); paths are
    /// compared by their elements.
    func isOurs(_ path: ObjectPath) -> Bool {
        adapter.map { path.isBelow($0) } ?? false
    }

    mutating func deviceAdded(_ path: ObjectPath, isSnapshot: Bool) {
        guard isOurs(path), let device = tree.devices[path], let peer = directory.note(path, device, isNamed: true)
        else { return }
        if device.isConnected { connectedChanged(peer, path, true) }
        dials.becameReady(peer)
        dialNext()
        // BlueZ pitfall: a device that advertises once is only ever in this signal
        // (https://github.com/hbldh/bleak/issues/903); and one of a snapshot may have gone long ago
        // (https://github.com/deviceplug/btleplug/issues/206).
        if !isSnapshot { report(peer, device) }
    }

    mutating func deviceChanged(_ path: ObjectPath, _ changes: Device1.Changes, isSnapshot: Bool) {
        guard isOurs(path), let device = tree.devices[path] else { return }
        // BlueZ pitfall: after bonding, `Address` is the identity and the path still the private address
        // (https://github.com/hbldh/bleak/issues/1737): the directory keeps the identifier.
        let known = directory.peer(at: path)
        let isNews = known == nil || !changes.isDisjoint(with: [.address, .name])
        let oldName = known.flatMap { directory.records[$0]?.name }
        guard let peer = isNews ? directory.note(path, device, isNamed: changes.contains(.name)) : known else { return }
        if isNews, let name = directory.records[peer]?.name, name != oldName { nameChanged(peer, name) }
        if changes.contains(.connected) { connectedChanged(peer, path, device.isConnected) }
        if changes.contains(.servicesResolved) { resolvedChanged(peer) }
        if changes.contains(.advertisement), !isSnapshot {
            report(peer, device)
            dials.becameReady(peer)
            dialNext()
        }
    }

    mutating func deviceRemoved(_ path: ObjectPath) {
        guard let peer = directory.peer(at: path) else { return }
        directory.forgetObject(at: path)
        connectedChanged(peer, path, false)
    }

    private mutating func nameChanged(_ peer: PeerID, _ name: String) {
        let source: NameSource = directory.records[peer]?.gapName == nil ? .advertised : .gap
        for share in ledger.shares(of: peer) {
            deliver(share.manager, .nameChanged(peer: peer, name: name, source: source))
        }
    }

    // MARK: Queries

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        ids.compactMap(directory.summary)
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        tree.devices.keys.sorted().compactMap { path in
            guard isOurs(path), let device = tree.devices[path], device.isConnected,
                services.contains(where: { offers($0, path, device) })
            else { return nil }
            return directory.peer(at: path).flatMap(directory.summary)
        }
    }

    func offers(_ service: BluetoothUUID, _ path: ObjectPath, _ device: Device1) -> Bool {
        device.uuids?.contains(service) == true
            || tree.attributes(of: path).contains { tree.services[$0]?.uuid == service }
    }
}
#endif
