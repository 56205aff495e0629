#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The adapter's state.
extension CentralRoleMachine {
    mutating func activate(_ manager: HostLedger.Manager) {
        managers[manager] = Manager()
        deliverState(to: manager)
    }

    /// Delivers the state; a manager's first state follows what the manager restores from an earlier process.
    private mutating func deliverState(to manager: HostLedger.Manager) {
        deliverState(to: manager) { $0.restore(manager) }
    }

    mutating func invalidate(_ manager: HostLedger.Manager) {
        guard managers[manager] != nil else { return }
        let wasScanning = ledger.scanners.contains { $0.manager == manager }
        for peer in ledger.wantedPeers { releaseLink(manager, peer, isSilent: true) }
        _ = ledger.remove(manager)
        managers[manager] = nil
        dropPreservation(of: manager)
        if wasScanning { scansChanged(restart: false) }
    }

    mutating func adapterChanged(_ path: ObjectPath, _ changes: Adapter1.Changes) {
        if !changes.isDisjoint(with: [.power, .roles, .address]) { updateState() }
        guard path == adapter, changes.contains(.discovering), objects.adapters[path]?.isDiscovering == false else {
            return
        }
        if discovery.discoveringEnded() { start(.discoveryRetry, timings.discoveryRetry) }
    }

    // MARK: State

    mutating func updateState() {
        guard let old = changeState() else { return }
        if old == .poweredOn { handlePowerLoss() }
        for manager in managers.keys.sorted() { deliverState(to: manager) }
    }

    /// The adapter in use.
    var adapter: ObjectPath? { watch.adapter }

    /// Ends everything that needs power; the state event reports it.
    private mutating func handlePowerLoss() {
        // BlueZ keeps subscriptions for the next link; see `stopNotifying`.
        for link in links.values {
            if watch.daemon == .ready, adapter != nil {
                stopNotifying(link)
            } else {
                for socket in link.notificationSockets { perform(.close, onNotificationSocket: socket) }
            }
        }
        for peer in links.keys { forget(linkTimersOf: peer) }
        stopTimers()
        abortChannels()
        for link in links.values { closeWriteSocket(of: link) }
        ledger.removeAll()
        discovery.scan = nil
        links = [:]
        outputs.calls.removeAll()
        discovery.reset()
        connects.reset()
        for manager in managers.keys { managers[manager]?.filter = nil }
    }

    // MARK: Devices

    mutating func deviceAdded(_ path: ObjectPath, isSnapshot: Bool) {
        guard isOurs(path), let device = objects.devices[path], let peer = directory.peer(at: path) else { return }
        if device.isConnected { connectedChanged(peer, path, device) }
        connects.becameReady(peer)
        connectNext()
        // BlueZ pitfall: for a device that advertises once, this signal is the only one
        // (https://github.com/hbldh/bleak/issues/903); and a device of a snapshot may have gone long ago
        // (https://github.com/deviceplug/btleplug/issues/206).
        if !isSnapshot { report(peer, device) }
    }

    mutating func deviceChanged(_ path: ObjectPath, _ changes: Device1.Changes) {
        guard isOurs(path), let device = objects.devices[path], let peer = directory.peer(at: path) else { return }
        if changes.contains(.name), let name = directory[peer]?.name { nameChanged(peer, name) }
        if changes.contains(.connected) { connectedChanged(peer, path, device) }
        if changes.contains(.servicesResolved) { resolvedChanged(peer) }
        if changes.contains(.advertisement) {
            report(peer, device)
            connects.becameReady(peer)
            connectNext()
        }
    }

    mutating func deviceRemoved(_ path: ObjectPath, _ device: Device1, _ peer: PeerID) {
        guard isOurs(path) else { return }
        var device = device
        if device.isConnected {
            device.disconnect()
            connectedChanged(peer, path, device)
        }
        connectLostObject(peer)
    }

    private mutating func nameChanged(_ peer: PeerID, _ name: String) {
        let source: NameSource = directory[peer]?.gapName == nil ? .advertised : .gap
        for lease in ledger.leases(of: peer) {
            deliver(lease.manager, .nameChanged(peer: peer, name: name, source: source))
        }
    }

    // MARK: Queries

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        ids.compactMap(directory.summary)
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        objects.devices.keys.sorted().compactMap { path in
            guard isOurs(path), let device = objects.devices[path], device.isConnected,
                services.contains(where: { offers($0, path, device) })
            else { return nil }
            return directory.peer(at: path).flatMap(directory.summary)
        }
    }

    func needsPairing(with device: ObjectPath) -> Bool {
        directory.peer(at: device).map { !ledger.leases(of: $0).isEmpty } ?? false
    }

    func offers(_ service: BluetoothUUID, _ path: ObjectPath, _ device: Device1) -> Bool {
        device.advertisement.serviceUUIDs?.contains(service) == true
            || objects.attributes(of: path).contains { objects.services[$0]?.uuid == service }
    }
}
#endif
