import BluetoothBackend
import BluetoothSupport

// Advertising and scanning. A set that nobody listens to schedules nothing.
extension World {
    /// Schedules the next packets of all devices that somebody listens to now.
    mutating func wakeAll() {
        for device in devices.refs { wake(device) }
    }

    /// Schedules the next packets of a device, where somebody listens.
    mutating func wake(_ ref: Ref<Device>) {
        for index in devices[ref]?.sets.indices ?? 0..<0 {
            guard devices[ref]?.sets[index].isScheduled == false, isWanted(ref, index) || isOneShot(ref, index)
            else { continue }
            let due = firstPacket(ref, index)
            let generation = devices[ref]?.sets[index].generation ?? 0
            devices[ref]?.sets[index].isScheduled = true
            let isPeriodic = devices[ref]?.sets[index].interval != 0
            queue.schedule(.advertise(ref, set: index, generation: generation), at: due, isPeriodic: isPeriodic)
        }
    }

    /// Whether a set is to send its only packet, whoever listens.
    private func isOneShot(_ ref: Ref<Device>, _ index: Int) -> Bool {
        devices[ref]?.sets[index].interval == 0 && devices[ref]?.isOnAir(index) == true
    }

    /// Sets the end of a set that was switched on for some time.
    mutating func limitAdvertising(_ ref: Ref<Device>) {
        for index in devices[ref]?.sets.indices ?? 0..<0 {
            guard let set = devices[ref]?.sets[index], set.isEnabled, let duration = set.description.duration else {
                continue
            }
            queue.schedule(
                .advertisingOver(ref, set: index, enabling: set.enabling), at: now + duration.nanoseconds)
        }
    }

    mutating func advertisingOver(_ ref: Ref<Device>, _ index: Int, _ enabling: UInt32) {
        guard let sets = devices[ref]?.sets, sets.indices.contains(index), sets[index].enabling == enabling else {
            return
        }
        devices[ref]?.sets[index].isEnabled = false
    }

    /// The instant of a set's next packet after a time without listeners: any phase of the interval, but never
    /// nearer than an interval to a packet that was heard.
    private mutating func firstPacket(_ ref: Ref<Device>, _ index: Int) -> Nanoseconds {
        guard let interval = devices[ref]?.sets[index].interval else { return now }
        guard interval > 0 else { return now + Nanoseconds(devices[ref]?.delayRandom.below(10_000_001) ?? 0) }
        let phase = Nanoseconds(devices[ref]?.delayRandom.below(UInt64(interval)) ?? 0) + 1
        guard let last = devices[ref]?.sets[index].lastPacket, last + interval > now + phase else {
            return now + phase
        }
        return last + interval + Nanoseconds(devices[ref]?.delayRandom.below(10_000_001) ?? 0)
    }

    /// Whether the next packet of a set can lead to anything.
    private mutating func isWanted(_ ref: Ref<Device>, _ index: Int) -> Bool {
        guard devices[ref]?.isOnAir(index) == true else { return false }
        let own = devices[ref]?.host
        let isExtended = devices[ref]?.sets[index].isExtended == true
        for host in hosts.indices where hosts[host].isOn && host != own {
            if isExtended, !hosts[host].features.contains(.extendedScanAndConnect) { continue }
            if hosts[host].hasScanners, hosts[host].wantsDuplicates || !hasHeard(host, ref, index) { return true }
            if isDialed(host, ref, index) { return true }
        }
        return false
    }

    private mutating func hasHeard(_ host: Int, _ ref: Ref<Device>, _ index: Int) -> Bool {
        let epoch = hosts[host].scanEpoch
        return devices[ref]?.isHeard(index, by: host, in: epoch) == true
    }

    private func isDialed(_ host: Int, _ ref: Ref<Device>, _ index: Int) -> Bool {
        guard !hosts[host].connecting.isEmpty, devices[ref]?.sets[index].isConnectable == true,
            let peer = devices[ref]?.identities[host]
        else { return false }
        return hosts[host].connecting.contains(peer)
    }

    /// One packet of one set.
    mutating func advertise(_ ref: Ref<Device>, _ index: Int, _ generation: UInt32) {
        let present = now
        guard
            let packet = devices[ref]?.sendPacket(
                index, generation, at: present, deviation: configuration.rssiDeviation)
        else { return }
        packets += 1
        let own = devices[ref]?.host
        if packet.pause == 0 { devices[ref]?.sets[index].isEnabled = false }
        for host in hosts.indices where hosts[host].isOn && host != own {
            if packet.isExtended, !hosts[host].features.contains(.extendedScanAndConnect) { continue }
            if receptionRandom.happens(configuration.advertisingLossRate) { continue }
            if hosts[host].hasScanners { report(ref, index, generation, packet.rssi, to: host) }
            if packet.isConnectable, isDialed(host, ref, index) {
                answerPacket(ref, host)
                break
            }
        }
        guard isWanted(ref, index) else { return }
        devices[ref]?.sets[index].isScheduled = true
        queue.schedule(
            .advertise(ref, set: index, generation: generation), at: present + packet.pause, isPeriodic: true)
    }

    // MARK: Reports

    private mutating func report(
        _ ref: Ref<Device>, _ index: Int, _ generation: UInt32, _ rssi: Int, to host: Int
    ) {
        if !hasHeard(host, ref, index) { note(ref, index, on: host) }
        // A device has few sets, so this is one key for each.
        let key = Int(ref.serial) << 16 | index
        for position in hosts[host].scanners.indices {
            let known = hosts[host].scanners[position].reports[key]
            guard let known, known.generation == generation else {
                reportFirst(ref, index, generation, rssi, host, position)
                continue
            }
            guard hosts[host].wantsDuplicates, var report = known.discovery,
                hosts[host].scanners[position].filter.parameters.allowDuplicates
            else { continue }
            report.rssi = rssi
            emit(.discovered(report), to: hosts[host].scanners[position].manager)
        }
    }

    /// The first packet of some data: the advertisement and the scan response are reported one after the other.
    private mutating func reportFirst(
        _ ref: Ref<Device>, _ index: Int, _ generation: UInt32, _ rssi: Int, _ host: Int, _ position: Int
    ) {
        guard let peer = devices[ref]?.identities[host] else { return }
        if hosts[host].peers[peer] == nil { note(ref, index, on: host) }
        guard let set = devices[ref]?.sets[index], let known = hosts[host].peers[peer] else { return }
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
            let report = Host.Report(generation: generation, discovery: last)
            hosts[host].scanners[position].reports[Int(ref.serial) << 16 | index] = report
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

    mutating func measuredRSSI(_ ref: Ref<Device>) -> Int {
        devices[ref]?.measureRSSI(configuration.rssiDeviation) ?? 127
    }
}

extension Device {
    /// Whether a host's scanners have the data of a set.
    mutating func isHeard(_ index: Int, by host: Int, in epoch: UInt64) -> Bool {
        host < sets[index].heard.count && sets[index].heard[host] == epoch
    }
}
