import BluetoothBackend
import BluetoothSupport

/// The scans of a host's managers.
struct HostScanning: Sendable {
    struct Scanner: Sendable {
        let manager: Ref<Manager>
        var filter: ScanReportFilter
        /// The reports of each set's present data, so that a repetition need not be merged again.
        var reports: [Int: Report] = [:]
    }

    /// The result of a scan for the data of one advertising set.
    struct Report: Sendable {
        let generation: UInt32
        /// The reported discovery; nil if the scan does not want it.
        var discovery: Discovery?
    }

    var scanners: [Scanner] = []
    /// Incremented when the set of scans changes.
    private(set) var epoch: UInt64 = 1
    /// Whether a scan wants every packet.
    private(set) var wantsDuplicates = false

    mutating func add(_ manager: Ref<Manager>, _ filter: ScanReportFilter) {
        scanners.append(Scanner(manager: manager, filter: filter))
        changed()
    }

    mutating func remove(_ manager: Ref<Manager>) {
        scanners.removeAll { $0.manager == manager }
        changed()
    }

    mutating func removeAll() {
        scanners = []
        changed()
    }

    /// Forgets a peer, so its next packet counts as its first.
    mutating func forget(_ peer: PeerID) {
        for index in scanners.indices {
            scanners[index].filter.forget(peer)
            scanners[index].reports = [:]
        }
        changed()
    }

    /// Changes the name under which further packets of a peer are reported.
    mutating func rename(_ peer: PeerID, to name: String) {
        for index in scanners.indices {
            for (key, report) in scanners[index].reports where report.discovery?.peer == peer {
                scanners[index].reports[key]?.discovery?.name = name
            }
        }
    }

    private mutating func changed() {
        epoch += 1
        wantsDuplicates = scanners.contains { $0.filter.parameters.allowDuplicates }
    }
}

// Advertising and scanning. A set that no host listens to schedules nothing.
extension World {
    /// Schedules the next packets of all devices that a host listens to.
    mutating func wakeAll() {
        for device in devices.refs { wake(device) }
    }

    /// Schedules the next packets of a device that a host listens to.
    mutating func wake(_ ref: Ref<Device>) {
        for index in devices[ref]?.advertiser.sets.indices ?? 0..<0 {
            guard devices[ref]?.advertiser.sets[index].isScheduled == false,
                isWanted(ref, index) || isOneShot(ref, index),
                let due = devices[ref]?.advertiser.firstPacket(of: index, at: context.now),
                let generation = devices[ref]?.advertiser.sets[index].generation
            else { continue }
            devices[ref]?.advertiser.sets[index].isScheduled = true
            let isPeriodic = devices[ref]?.advertiser.sets[index].interval != 0
            context.queue.schedule(.advertise(ref, set: index, generation: generation), at: due, isPeriodic: isPeriodic)
        }
    }

    /// Whether a set sends a single packet, which needs no listener.
    private func isOneShot(_ ref: Ref<Device>, _ index: Int) -> Bool {
        devices[ref]?.advertiser.sets[index].interval == 0 && devices[ref]?.isOnAir(index) == true
    }

    /// Schedules the end of the sets that were switched on for a limited time.
    mutating func limitAdvertising(_ ref: Ref<Device>) {
        for index in devices[ref]?.advertiser.sets.indices ?? 0..<0 {
            guard let set = devices[ref]?.advertiser.sets[index], set.isEnabled, let duration = set.description.duration
            else { continue }
            context.queue.schedule(
                .advertisingOver(ref, set: index, enabling: set.enabling), at: context.now + duration.nanoseconds)
        }
    }

    mutating func advertisingOver(_ ref: Ref<Device>, _ index: Int, _ enabling: UInt32) {
        guard let sets = devices[ref]?.advertiser.sets, sets.indices.contains(index), sets[index].enabling == enabling
        else { return }
        devices[ref]?.advertiser.sets[index].isEnabled = false
        reportChange(of: ref)
    }

    /// Whether any host needs the next packet of a set.
    private mutating func isWanted(_ ref: Ref<Device>, _ index: Int) -> Bool {
        guard devices[ref]?.isOnAir(index) == true else { return false }
        if context.configuration.advertisingCollides { return isAnyoneListening }
        for host in hosts.indices where canHear(host, ref, index) {
            if !hosts[host].scanning.scanners.isEmpty,
                hosts[host].scanning.wantsDuplicates || !hasHeard(host, ref, index)
            {
                return true
            }
            if isConnecting(host, ref, index) { return true }
        }
        return false
    }

    private func canHear(_ host: Int, _ ref: Ref<Device>, _ index: Int) -> Bool {
        guard hosts[host].adapter.isOn else { return false }
        let hearsExtended = hosts[host].adapter.features.contains(.extendedScanAndConnect)
        // A single call, because each optional chain copies the device.
        return devices[ref]?.canBeHeard(index, by: host, hearsExtended) == true
    }

    private mutating func hasHeard(_ host: Int, _ ref: Ref<Device>, _ index: Int) -> Bool {
        let epoch = hosts[host].scanning.epoch
        return devices[ref]?.advertiser.isHeard(index, by: host, in: epoch) == true
    }

    func isConnecting(_ host: Int, _ ref: Ref<Device>, _ index: Int) -> Bool {
        guard !hosts[host].connecting.isEmpty, devices[ref]?.advertiser.sets[index].description.isConnectable == true,
            let peer = devices[ref]?.identity.peers[host]
        else { return false }
        return hosts[host].connecting.contains(peer)
    }

    mutating func advertise(_ ref: Ref<Device>, _ index: Int, _ generation: UInt32) {
        guard
            let packet = devices[ref]?.sendPacket(
                index, generation, at: context.now, deviation: context.configuration.rssiDeviation)
        else { return }
        air.packets += 1
        if packet.pause == 0 {
            devices[ref]?.advertiser.sets[index].isEnabled = false
            reportChange(of: ref)
        }
        if context.configuration.advertisingCollides {
            beginAdvertisingEvent(ref, index, generation, packet.rssi)
        } else {
            hear(ref, index, generation, packet.rssi, nil)
        }
        guard isWanted(ref, index) else { return }
        devices[ref]?.advertiser.sets[index].isScheduled = true
        context.queue.schedule(
            .advertise(ref, set: index, generation: generation), at: context.now + packet.pause, isPeriodic: true)
    }

    // MARK: Reports

    /// Delivers a packet to the hosts, except those that miss it.
    mutating func hear(
        _ ref: Ref<Device>, _ index: Int, _ generation: UInt32, _ rssi: Int, _ event: AdvertisingCollisions.Event?
    ) {
        let isTapped = context.tapped.contains(.advertising)
        var (receptions, missed): ([TappedAdvertisingPacket.Reception], [Int]) = ([], [])
        for host in hosts.indices where canHear(host, ref, index) {
            let isMissed = air.misses(context.configuration.advertisingLossRate) || event?.isReceived(by: host) == false
            if isTapped, let reception = reception(host, of: ref, index) {
                if isMissed { missed.append(host) } else { receptions.append(reception) }
            }
            if isMissed { continue }
            if !hosts[host].scanning.scanners.isEmpty { report(ref, index, generation, rssi, to: host) }
            if isConnecting(host, ref, index) {
                answerPacket(ref, host)
                break
            }
        }
        if isTapped { report(ref, index, rssi, receptions, missedBy: missed) }
    }

    private mutating func report(
        _ ref: Ref<Device>, _ index: Int, _ generation: UInt32, _ rssi: Int, to host: Int
    ) {
        if !hasHeard(host, ref, index) { remember(ref, index, on: host) }
        // The key combines device and set; a device has few sets.
        let key = Int(ref.serial) << 16 | index
        for position in hosts[host].scanning.scanners.indices {
            let known = hosts[host].scanning.scanners[position].reports[key]
            guard let known, known.generation == generation else {
                reportFirst(ref, index, generation, rssi, host, position)
                continue
            }
            guard hosts[host].scanning.wantsDuplicates, var report = known.discovery,
                hosts[host].scanning.scanners[position].filter.parameters.allowDuplicates
            else { continue }
            report.rssi = rssi
            context.emit(.discovered(report), to: hosts[host].scanning.scanners[position].manager)
        }
    }

    /// Reports the first packet with certain data: its advertisement, then its scan response.
    private mutating func reportFirst(
        _ ref: Ref<Device>, _ index: Int, _ generation: UInt32, _ rssi: Int, _ host: Int, _ position: Int
    ) {
        guard let peer = devices[ref]?.identity.peers[host] else { return }
        if hosts[host].peers[peer] == nil { remember(ref, index, on: host) }
        guard let set = devices[ref]?.advertiser.sets[index], let known = hosts[host].peers[peer] else { return }
        let manager = hosts[host].scanning.scanners[position].manager
        var last: Discovery?
        for content in [set.advertisement, set.scanResponse].compactMap({ $0 }) {
            let report = Discovery(
                peer: peer, name: known.name, advertisement: content, rssi: rssi, address: known.address.description)
            guard let admitted = hosts[host].scanning.scanners[position].filter.admit(report) else { continue }
            last = admitted
            context.emit(.discovered(admitted), to: manager)
        }
        // Data of other sets may still be merged in, so only the only set of a device is remembered as merged.
        if !hosts[host].scanning.wantsDuplicates || devices[ref]?.advertiser.sets.count == 1 {
            let report = HostScanning.Report(generation: generation, discovery: last)
            hosts[host].scanning.scanners[position].reports[Int(ref.serial) << 16 | index] = report
        }
    }

    /// Remembers a device that was heard, and records that the host's scanners have its data.
    private mutating func remember(_ ref: Ref<Device>, _ index: Int, on host: Int) {
        guard let peer = devices[ref]?.identity.peers[host], let set = devices[ref]?.advertiser.sets[index],
            let address = devices[ref]?.identity.address
        else { return }
        let name = set.scanResponse?.localName ?? set.advertisement.localName
        if let known = hosts[host].peers[peer] {
            if let name, name != known.advertisedName {
                hosts[host].peers[peer]?.advertisedName = name
                if known.deviceName == nil { reportName(peer, name, .advertised, on: host) }
            }
        } else {
            hosts[host].peers[peer] = KnownPeer(address: address, advertisedName: name)
        }
        devices[ref]?.advertiser.setHeard(index, by: host, in: hosts[host].scanning.epoch)
    }

    mutating func reportName(_ peer: PeerID, _ name: String, _ source: NameSource, on host: Int) {
        hosts[host].scanning.rename(peer, to: name)
        for manager in hosts[host].managers where managers[manager]?.role == .central {
            context.emit(.nameChanged(peer: peer, name: name, source: source), to: manager)
        }
    }
}
