#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Scanning: one discovery session for all managers and for pending connects.
extension CentralRoleMachine {
    mutating func startScan(_ manager: HostLedger.Manager, _ parameters: ScanParameters) {
        context.ledger.startScan(manager, parameters)
        let filter = ScanReportFilter(parameters, remembering: watch.peerLimit)
        managers[manager]?.filter = filter
        scansChanged(restart: true)
    }

    mutating func stopScan(_ manager: HostLedger.Manager) {
        // When discovery stops, BlueZ removes `RSSI` from all devices; these changes are not reports.
        managers[manager]?.filter = nil
        if context.ledger.stopScan(manager) { scansChanged(restart: false) }
    }

    /// - Parameter restart: Whether the scan starts again, so that it reports all peers, including those that the
    ///   controller's filter of duplicates suppresses.
    mutating func scansChanged(restart: Bool) {
        discovery.scan = context.ledger.mergedScan
        discovery.want(wantedDiscovery, restart: restart)
    }

    private var wantedDiscovery: DiscoverySession.Filter? {
        // A filter would hide the peers of pending connects.
        if connects.needsScan {
            return DiscoverySession.Filter(allowDuplicates: discovery.scan?.allowDuplicates ?? false)
        }
        guard let scan = discovery.scan else { return nil }
        // If the daemon cannot filter, the managers' own filters select the reports.
        let version = adapter.flatMap { objects.adapters[$0]?.daemonVersion }
        let canFilter = version?.crashesOnServiceFilter != true
        return DiscoverySession.Filter(
            services: canFilter ? scan.services : nil, allowDuplicates: scan.allowDuplicates)
    }

    /// Makes the next discovery call, if one is due.
    ///
    /// Runs after every input, because many inputs change the wanted discovery.
    mutating func runDiscovery() {
        guard state == .poweredOn, let adapter else { return }
        discovery.want(wantedDiscovery, restart: false)
        guard let step = discovery.nextStep() else { return }
        let (member, body): (String, [DBusValue]) =
            switch step {
            case .setFilter(let filter): ("SetDiscoveryFilter", [filter.value])
            case .clearFilter: ("SetDiscoveryFilter", [.properties([:])])
            case .start: ("StartDiscovery", [])
            case .stop: ("StopDiscovery", [])
            }
        call(.discovery, adapter, Adapter1.interface, member, body, deadline: timings.discovery)
    }

    mutating func discoveryReplied(_ error: DBusError?) {
        if let error { log(.debug, "discovery: \(error)") }
        let isDiscovering = adapter.flatMap { objects.adapters[$0]?.isDiscovering } ?? false
        switch discovery.done(error: error, isDiscovering: isDiscovering) {
        case .finished: break
        case .refused: start(.discoveryRetry, timings.discoveryRetry)
        case .stuck:
            log(.warning, "bluetoothd cannot end a scan: if the next one finds nothing, switch the adapter off and on")
        }
        if let error, discovery.failures == DiscoverySession.warningAfter {
            log(.warning, "bluetoothd refuses to scan (\(error)): switching the adapter off and on may help")
        }
    }

    /// Reports a device that was just heard to the scanning managers.
    ///
    /// A device without RSSI was not heard in this discovery.
    ///
    /// BlueZ pitfall: only `PropertiesChanged` contains the additions of later packets
    /// (https://github.com/mcginty/blew/issues/27): every change is a report, and the filter merges.
    mutating func report(_ peer: PeerID, _ device: Device1) {
        guard let rssi = device.rssi, discovery.scan != nil else { return }
        let record = directory[peer]
        var advertisement = device.advertisement
        advertisement.localName = record?.advertisedName
        let report = Discovery(
            peer: peer, name: record?.name, advertisement: advertisement, rssi: Int(rssi), address: device.address)
        for manager in managers.keys.sorted() {
            guard let admitted = managers[manager]?.filter?.admit(report) else { continue }
            deliver(manager, .discovered(admitted))
        }
    }
}
#endif
