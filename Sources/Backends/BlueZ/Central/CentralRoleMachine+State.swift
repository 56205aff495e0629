#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The adapter's state, and the managers to which it is delivered.
extension CentralRoleMachine {
    // MARK: Managers

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
        let wasScanning = context.ledger.scanners.contains { $0.manager == manager }
        for peer in context.ledger.wantedPeers { releaseLink(manager, peer, isSilent: true) }
        _ = context.ledger.remove(manager)
        managers[manager] = nil
        dropPreservation(of: manager)
        if wasScanning { scansChanged(restart: false) }
    }

    // MARK: State

    /// The adapter in use.
    var adapter: ObjectPath? { watch.adapter }

    mutating func adapterChanged(_ path: ObjectPath, _ changes: Adapter1.Changes) {
        if !changes.isDisjoint(with: [.power, .roles, .address]) { updateState() }
        guard path == adapter, changes.contains(.discovering), objects.adapters[path]?.isDiscovering == false else {
            return
        }
        if discovery.discoveringEnded() { start(.discoveryRetry, timings.discoveryRetry) }
    }

    mutating func updateState() {
        guard let old = changeState() else { return }
        if old == .poweredOn { handlePowerLoss() }
        for manager in managers.keys.sorted() { deliverState(to: manager) }
    }

    /// Ends everything that needs power; the state event reports it.
    private mutating func handlePowerLoss() {
        // BlueZ keeps subscriptions for the next link; see `stopNotifying`.
        for var link in links.values {
            if watch.daemon == .ready, adapter != nil {
                link.stopNotifying(&context)
            } else {
                for socket in link.subscriptions.sockets {
                    context.perform(.close, onNotificationSocket: socket)
                }
            }
        }
        for link in links.values { link.stopTimers(&context) }
        stopTimers()
        abortChannels()
        for link in links.values { link.closeWriteSocket(&context) }
        context.ledger.removeAll()
        discovery.scan = nil
        links = [:]
        outputs.calls.removeAll()
        discovery.reset()
        connects.reset()
        for manager in managers.keys { managers[manager]?.filter = nil }
    }
}
#endif
