import BluetoothBackend

// Advertising and scanning. A set that nobody listens to schedules nothing.
extension World {
    /// Schedules the next packets of all devices that somebody listens to now.
    mutating func wakeAll() {
        for device in devices.refs { wake(device) }
    }

    /// Schedules the next packets of a device, where somebody listens.
    mutating func wake(_ ref: Ref<Device>) {
        for index in devices[ref]?.sets.indices ?? 0..<0 {
            guard devices[ref]?.sets[index].isScheduled == false, isWanted(ref, index) else { continue }
            let due = firstPacket(ref, index)
            let generation = devices[ref]?.sets[index].generation ?? 0
            devices[ref]?.sets[index].isScheduled = true
            queue.schedule(.advertise(ref, set: index, generation: generation), at: due, isPeriodic: true)
        }
    }

    /// The instant of a set's next packet after a time without listeners: any phase of the interval, but never
    /// nearer than an interval to a packet that was heard.
    private mutating func firstPacket(_ ref: Ref<Device>, _ index: Int) -> Nanoseconds {
        guard let interval = devices[ref]?.sets[index].description.interval.nanoseconds else { return now }
        let phase = Nanoseconds(devices[ref]?.delayRandom.below(UInt64(interval)) ?? 0) + 1
        guard let last = devices[ref]?.sets[index].lastPacket, last + interval > now + phase else {
            return now + phase
        }
        return last + interval + advertisingDelay(ref)
    }

    /// Core Specification, Vol 6, Part B, 4.4.2.2.1: 0–10 ms, drawn for each packet.
    private mutating func advertisingDelay(_ ref: Ref<Device>) -> Nanoseconds {
        Nanoseconds(devices[ref]?.delayRandom.below(10_000_001) ?? 0)
    }

    /// Whether the next packet of a set can lead to anything.
    private func isWanted(_ ref: Ref<Device>, _ index: Int) -> Bool {
        guard devices[ref]?.isOnAir(index) == true else { return false }
        return hosts.indices.contains { host in
            guard hosts[host].state == .poweredOn else { return false }
            if !hosts[host].scanners.isEmpty, hosts[host].wantsDuplicates || !hasHeard(host, ref, index) { return true }
            return isDialed(host, ref, index)
        }
    }

    private func hasHeard(_ host: Int, _ ref: Ref<Device>, _ index: Int) -> Bool {
        guard let heard = devices[ref]?.sets[index].heard, host < heard.count else { return false }
        return heard[host] == hosts[host].scanEpoch
    }

    private func isDialed(_ host: Int, _ ref: Ref<Device>, _ index: Int) -> Bool {
        guard !hosts[host].dialing.isEmpty, devices[ref]?.sets[index].description.isConnectable == true,
            let peer = devices[ref]?.identities[host]
        else { return false }
        return hosts[host].dialing.contains(peer)
    }

    /// One packet of one set.
    mutating func advertise(_ ref: Ref<Device>, _ index: Int, _ generation: UInt32) {
        guard devices[ref]?.sets.indices.contains(index) == true,
            devices[ref]?.sets[index].generation == generation
        else { return }
        devices[ref]?.sets[index].isScheduled = false
        guard devices[ref]?.isOnAir(index) == true else { return }
        packets += 1
        let present = now
        devices[ref]?.sets[index].lastPacket = present
        for host in hosts.indices where hosts[host].state == .poweredOn {
            if receptionRandom.happens(configuration.advertisingLossRate) { continue }
            if !hosts[host].scanners.isEmpty { report(ref, index, to: host) }
            if isDialed(host, ref, index) {
                answerPacket(ref, host)
                break
            }
        }
        guard isWanted(ref, index) else { return }
        let interval = devices[ref]?.sets[index].description.interval.nanoseconds ?? 0
        devices[ref]?.sets[index].isScheduled = true
        queue.schedule(
            .advertise(ref, set: index, generation: generation), at: now + interval + advertisingDelay(ref),
            isPeriodic: true)
    }

    // MARK: Reports

    private mutating func report(_ ref: Ref<Device>, _ index: Int, to host: Int) {
        let key = Host.ReportKey(
            device: ref, set: index, generation: devices[ref]?.sets[index].generation ?? 0)
        let rssi = measuredRSSI(ref)
        if !hasHeard(host, ref, index) { note(ref, index, on: host) }
        for position in hosts[host].scanners.indices {
            if let known = hosts[host].scanners[position].reports[key] {
                guard var report = known, hosts[host].scanners[position].filter.parameters.allowDuplicates else {
                    continue
                }
                report.rssi = rssi
                emit(.discovered(report), to: hosts[host].scanners[position].manager)
            } else {
                reportFirst(ref, index, key, rssi, host, position)
            }
        }
    }

    /// The first packet of some data: the advertisement and the scan response are reported one after the other.
    private mutating func reportFirst(
        _ ref: Ref<Device>, _ index: Int, _ key: Host.ReportKey, _ rssi: Int, _ host: Int, _ position: Int
    ) {
        guard let set = devices[ref]?.sets[index], let peer = devices[ref]?.identities[host],
            let known = hosts[host].peers[peer]
        else { return }
        let manager = hosts[host].scanners[position].manager
        var last: Discovery?
        for content in [set.advertisement, set.scanResponse].compactMap({ $0 }) {
            let report = Discovery(
                peer: peer, name: known.name, advertisement: content, rssi: rssi, address: known.address.description)
            guard let admitted = hosts[host].scanners[position].filter.admit(report) else { continue }
            last = admitted
            emit(.discovered(admitted), to: manager)
        }
        // Data of other sets may still be merged in, so only a device's only set is remembered as merged.
        if !hosts[host].wantsDuplicates || devices[ref]?.sets.count == 1 {
            hosts[host].scanners[position].reports[key] = .some(last)
        }
    }

    /// Remembers a device that was heard, and that this host's scanners have its data.
    private mutating func note(_ ref: Ref<Device>, _ index: Int, on host: Int) {
        guard let peer = devices[ref]?.identities[host], let set = devices[ref]?.sets[index],
            let address = devices[ref]?.address
        else { return }
        let name = set.scanResponse?.localName ?? set.advertisement.localName
        if let known = hosts[host].peers[peer] {
            if let name, name != known.advertisedName {
                hosts[host].peers[peer]?.advertisedName = name
                if known.deviceName == nil { tellName(peer, name, .advertised, on: host) }
            }
        } else {
            hosts[host].peers[peer] = Host.KnownPeer(address: address, advertisedName: name)
        }
        let missing = host + 1 - set.heard.count
        if missing > 0 { devices[ref]?.sets[index].heard.append(contentsOf: repeatElement(0, count: missing)) }
        devices[ref]?.sets[index].heard[host] = hosts[host].scanEpoch
    }

    mutating func tellName(_ peer: PeerID, _ name: String, _ source: NameSource, on host: Int) {
        for manager in hosts[host].managers where managers[manager]?.role == .central {
            emit(.nameChanged(peer: peer, name: name, source: source), to: manager)
        }
    }

    /// The signal strength of one packet, -127...20 dBm.
    mutating func measuredRSSI(_ ref: Ref<Device>) -> Int {
        guard let mean = devices[ref]?.meanRSSI else { return 127 }
        let deviation = configuration.rssiDeviation
        guard deviation > 0 else { return mean }
        let offset = Int(devices[ref]?.rssiRandom.below(UInt64(2 * deviation + 1)) ?? 0) - deviation
        return min(20, max(-127, mean + offset))
    }
}
