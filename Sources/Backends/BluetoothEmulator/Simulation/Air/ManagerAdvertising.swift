import BluetoothBackend
import BluetoothSupport

// The scans and the advertisements of managers.
extension Air {
    // MARK: Scanning

    mutating func startScan(
        _ ref: Ref<Manager>, on host: Int, _ parameters: ScanParameters, _ hosts: inout Hosts,
        _ context: inout WorldContext
    ) {
        hosts[host].ledger.startScan(ref.packed, parameters)
        noteSilentDevices(for: parameters, on: host, &context)
        let number = context.identifiers.nextScan()
        hosts[host].scanning.begin(number, of: ref)
        guard context.configuration.scanDelay > .zero else { return listen(ref, number, parameters, &hosts, &context) }
        context.queue.schedule(
            .listen(ref, number, parameters), at: context.now + context.configuration.scanDelay.nanoseconds)
    }

    /// Begins to receive packets for a scan, unless it was stopped or replaced.
    mutating func listen(
        _ ref: Ref<Manager>, _ number: UInt64, _ parameters: ScanParameters, _ hosts: inout Hosts,
        _ context: inout WorldContext
    ) {
        guard let host = hosts.host(of: ref), hosts[host].scanning.takePending(number, of: ref) else { return }
        hosts[host].scanning.add(ref, ScanReportFilter(parameters, remembering: hosts[host].peers.limit))
        wakeAll(hosts, &context)
    }

    // MARK: Advertising

    mutating func startAdvertising(
        _ advertisement: Advertisement, _ operation: OperationID?, _ ref: Ref<Manager>, on host: Int,
        _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        guard let server = hosts[host].server else { return }
        guard devices[server]?.advertise(advertisement, of: ref, for: hosts[host], server, &context) == true else {
            guard let operation else { return context.log("advertising not restored: no room") }
            return context.fail(operation, .outOfSpace, "advertise", of: ref)
        }
        if let operation { context.emit(PeripheralEvent.advertisingStarted(operation: operation), to: ref) }
        wake(server, hosts, &context)
    }

    /// Changes the content that a host adds to its managers' advertisements.
    mutating func setAdvertising(
        _ advertising: HostAdvertising, of host: Int, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        hosts[host].adapter.advertising = advertising
        guard let server = hosts[host].server else { return }
        devices[server]?.advertise(with: advertising, server, hosts, &context)
    }

    mutating func stopAdvertising(
        _ ref: Ref<Manager>, at server: Ref<Device>, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        devices[server]?.stopAdvertising(ref, server, &context)
    }
}

extension Device {
    /// Advertises for a manager of a host; returns false if no set is free.
    fileprivate mutating func advertise(
        _ advertisement: Advertisement, of manager: Ref<Manager>, for host: Host, _ ref: Ref<Device>,
        _ context: inout WorldContext
    ) -> Bool {
        let limit = context.configuration.maximumAdvertisingSets
        guard advertiser.advertise(advertisement, of: manager, host.adapter.advertising, limit: limit) else {
            return false
        }
        if let name = advertisement.localName { setDeviceName(name, of: host.identity) }
        reportChange(ref, &context)
        return true
    }

    /// Releases the set of a manager, if it has one.
    fileprivate mutating func stopAdvertising(
        _ manager: Ref<Manager>, _ ref: Ref<Device>, _ context: inout WorldContext
    ) { if advertiser.free(of: manager) { reportChange(ref, &context) } }

    /// Releases the sets of all managers.
    mutating func stopAdvertising(_ ref: Ref<Device>, _ context: inout WorldContext) {
        advertiser.freeAll()
        reportChange(ref, &context)
    }

    /// Advertises for all managers with other content of their host.
    fileprivate mutating func advertise(
        with advertising: HostAdvertising, _ ref: Ref<Device>, _ hosts: Hosts, _ context: inout WorldContext
    ) {
        advertiser.advertise(with: advertising)
        reportChange(ref, &context)
        wake(ref, hosts, &context)
    }
}
