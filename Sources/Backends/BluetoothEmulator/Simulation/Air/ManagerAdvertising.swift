import BluetoothBackend

// The scans and the advertisements of managers.
extension Air {
    // MARK: Scanning

    mutating func startScan(
        _ ref: Ref<Manager>, on host: Int, _ parameters: ScanParameters, _ hosts: inout Hosts,
        _ context: inout WorldContext
    ) {
        hosts[host].ledger.startScan(ref.packed, parameters)
        hosts[host].scanning.remove(ref)
        noteSilentDevices(for: parameters, on: host, &context)
        let number = context.identifiers.nextScan()
        hosts.managers[ref]?.pendingScan = number
        guard context.configuration.scanDelay > .zero else { return listen(ref, number, parameters, &hosts, &context) }
        context.queue.schedule(
            .listen(ref, number, parameters), at: context.now + context.configuration.scanDelay.nanoseconds)
    }

    /// Begins to receive packets for a scan, unless it was stopped or replaced.
    mutating func listen(
        _ ref: Ref<Manager>, _ number: UInt64, _ parameters: ScanParameters, _ hosts: inout Hosts,
        _ context: inout WorldContext
    ) {
        guard let host = hosts.managers[ref]?.takePendingScan(number) else { return }
        hosts[host].scanning.add(ref, ScanReportFilter(parameters, remembering: hosts[host].peers.limit))
        wakeAll(hosts, &context)
    }

    // MARK: Advertising

    mutating func startAdvertising(
        _ advertisement: Advertisement, _ operation: OperationID?, _ ref: Ref<Manager>, at server: Ref<Device>,
        _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        guard let host = devices[server]?.host else { return }
        let limit = context.configuration.maximumAdvertisingSets
        guard devices[server]?.advertise(advertisement, of: ref, for: hosts[host], limit: limit) == true else {
            guard let operation else { return context.log("advertising not restored: no room") }
            return context.fail(operation, .outOfSpace, "advertise", of: ref)
        }
        hosts.managers[ref]?.publication.advertisement = advertisement
        reportChange(of: server, &context)
        if let operation { context.emit(PeripheralEvent.advertisingStarted(operation: operation), to: ref) }
        wake(server, hosts, &context)
    }

    /// Changes the content that a host adds to its managers' advertisements.
    mutating func setAdvertising(
        _ advertising: HostAdvertising, of host: Int, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        hosts[host].adapter.advertising = advertising
        guard let server = hosts[host].server else { return }
        devices[server]?.advertise(with: advertising, hosts)
        reportChange(of: server, &context)
        wake(server, hosts, &context)
    }

    mutating func stopAdvertising(
        _ ref: Ref<Manager>, at server: Ref<Device>, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        guard devices[server]?.advertiser.free(of: ref) == true else { return }
        hosts.managers[ref]?.publication.advertisement = nil
        reportChange(of: server, &context)
    }
}

extension Device {
    /// Advertises for a manager of a host; returns false if no set is free.
    fileprivate mutating func advertise(
        _ advertisement: Advertisement, of manager: Ref<Manager>, for host: Host, limit: Int
    ) -> Bool {
        let sets = advertiser.sets
        let slot = sets.firstIndex { $0.manager == manager } ?? sets.firstIndex { $0.manager == nil } ?? sets.count
        guard slot < limit else { return false }
        advertiser.replace(
            slot, with: Advertiser.AdvertisingSet(advertisement, of: manager, host.adapter.advertising))
        if let name = advertisement.localName { setDeviceName(name, of: host.identity) }
        return true
    }

    /// Advertises for all managers with other content of their host.
    fileprivate mutating func advertise(with advertising: HostAdvertising, _ hosts: Hosts) {
        for index in advertiser.sets.indices {
            guard let manager = advertiser.sets[index].manager,
                let advertisement = hosts.managers[manager]?.publication.advertisement
            else { continue }
            advertiser.replace(index, with: Advertiser.AdvertisingSet(advertisement, of: manager, advertising))
        }
    }
}
