import BluetoothBackend
import BluetoothSupport

// The packets of a device, and their reception by the hosts.
extension Device {
    func isOnAir(_ index: Int) -> Bool {
        advertiser.sets[index].isEnabled && signal.isPresent
            && (links.isEmpty || advertiser.sets[index].description.continuesWhileConnected)
    }

    /// Starts the sets that are on, for their durations, and the rotation of the address.
    mutating func begin(_ ref: Ref<Device>, _ hosts: Hosts, _ context: inout WorldContext) {
        limitAdvertising(ref, &context)
        scheduleRotation(ref, &context)
        wake(ref, hosts, &context)
    }

    /// Starts the sets that were switched on, for their durations.
    mutating func startAdvertising(_ ref: Ref<Device>, _ hosts: Hosts, _ context: inout WorldContext) {
        limitAdvertising(ref, &context)
        wake(ref, hosts, &context)
    }

    /// Schedules the next packets of the sets that a host listens to.
    mutating func wake(_ ref: Ref<Device>, _ hosts: Hosts, _ context: inout WorldContext) {
        for index in advertiser.sets.indices where !advertiser.sets[index].isScheduled {
            // A single packet needs no listener.
            let isOneShot = advertiser.sets[index].interval == 0 && isOnAir(index)
            guard isOneShot || isWanted(index, by: hosts, context.configuration.advertisingCollides) else { continue }
            let due = advertiser.firstPacket(of: index, at: context.now)
            advertiser.sets[index].isScheduled = true
            let packet = AirPacket(ref, set: index, generation: advertiser.sets[index].generation)
            context.queue.schedule(.advertise(packet), at: due, isPeriodic: advertiser.sets[index].interval != 0)
        }
    }

    /// Whether any host needs the next packet of a set.
    private func isWanted(_ index: Int, by hosts: Hosts, _ collides: Bool) -> Bool {
        guard isOnAir(index) else { return false }
        if collides { return hosts.isAnyoneListening }
        for host in hosts.indices where canBeHeard(index, by: host, hosts) {
            if !hosts[host].scanning.scanners.isEmpty,
                hosts[host].scanning.wantsDuplicates
                    || !advertiser.isHeard(index, by: host, in: hosts[host].scanning.epoch)
            {
                return true
            }
            if isAwaited(index, by: host, hosts) { return true }
        }
        return false
    }

    /// Whether a host can hear the packets of a set: not of its own managers, and extended ones only with support for
    /// them.
    private func canBeHeard(_ index: Int, by other: Int, _ hosts: Hosts) -> Bool {
        hosts[other].adapter.isOn && host != other
            && (!advertiser.sets[index].description.isExtended
                || hosts[other].adapter.features.contains(.extendedScanAndConnect))
    }

    /// Whether a host waits for a packet of a set to connect.
    private func isAwaited(_ index: Int, by host: Int, _ hosts: Hosts) -> Bool {
        !hosts[host].connecting.isEmpty && advertiser.sets[index].description.isConnectable
            && hosts[host].connecting.contains(identity.peers[host])
    }

    // MARK: Sending

    /// Sends a packet, if the set is on the air with this data, and schedules the next one if a host listens.
    ///
    /// - Returns: Whether the packet was sent.
    mutating func advertise(
        _ packet: AirPacket, _ collisions: inout AdvertisingCollisions, _ random: inout SeededGenerator,
        _ hosts: inout Hosts, _ context: inout WorldContext
    ) -> Bool {
        let index = packet.index
        guard advertiser.sets.indices.contains(index), advertiser.sets[index].generation == packet.generation else {
            return false
        }
        advertiser.sets[index].isScheduled = false
        guard isOnAir(index) else { return false }
        let pause = advertiser.packetSent(of: index, at: context.now)
        var packet = packet
        packet.rssi = signal.measure(context.configuration.rssiDeviation)
        if pause == 0 {
            advertiser.sets[index].isEnabled = false
            reportChange(packet.device, &context)
        }
        if context.configuration.advertisingCollides {
            // The receivers are known when the last packet has ended.
            let event = AdvertisingCollisions.Event(packet, advertiser.sets[index].description, at: context.now)
            collisions.begin(event)
            context.queue.schedule(
                .advertisingEventOver(packet), at: context.now + event.timing.duration,
                isPeriodic: advertiser.sets[index].interval != 0)
        } else {
            deliver(packet, nil, &random, &hosts, &context)
        }
        if isWanted(index, by: hosts, context.configuration.advertisingCollides) {
            advertiser.sets[index].isScheduled = true
            context.queue.schedule(.advertise(packet), at: context.now + pause, isPeriodic: true)
        }
        return true
    }

    /// Delivers the packets of an event that has ended, if the set is still on the air with this data.
    mutating func eventOver(
        _ packet: AirPacket, _ event: AdvertisingCollisions.Event, _ random: inout SeededGenerator,
        _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        let index = packet.index
        guard signal.isPresent, advertiser.sets.indices.contains(index),
            advertiser.sets[index].generation == packet.generation,
            isOnAir(index) || advertiser.sets[index].interval == 0
        else { return }
        deliver(packet, event, &random, &hosts, &context)
    }

    /// Schedules the end of the sets that were switched on for a limited time.
    private func limitAdvertising(_ ref: Ref<Device>, _ context: inout WorldContext) {
        for (index, set) in advertiser.sets.enumerated() where set.isEnabled {
            guard let duration = set.description.duration else { continue }
            context.queue.schedule(
                .advertisingOver(ref, set: index, enabling: set.enabling), at: context.now + duration.nanoseconds)
        }
    }

    /// Switches a set off after its duration, unless it was switched on again.
    mutating func advertisingOver(_ ref: Ref<Device>, _ index: Int, _ enabling: UInt32, _ context: inout WorldContext) {
        guard advertiser.sets.indices.contains(index), advertiser.sets[index].enabling == enabling else { return }
        advertiser.sets[index].isEnabled = false
        reportChange(ref, &context)
    }

    // MARK: Reports

    /// Delivers a packet to the hosts, except those that miss it.
    private mutating func deliver(
        _ packet: AirPacket, _ event: AdvertisingCollisions.Event?, _ random: inout SeededGenerator,
        _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        let isTapped = context.tapped.contains(.advertising)
        let lossRate = max(context.configuration.advertisingLossRate, context.interference)
        var (receptions, missed): ([TappedAdvertisingPacket.Reception], [Int]) = ([], [])
        for host in hosts.indices where canBeHeard(packet.index, by: host, hosts) {
            let isMissed = random.happens(lossRate) || event?.isReceived(by: host) == false
            let isScanning = !hosts[host].scanning.scanners.isEmpty
            let isAwaited = isAwaited(packet.index, by: host, hosts)
            if isTapped, isScanning || isAwaited {
                if isMissed {
                    missed.append(host)
                } else {
                    receptions.append(.init(host: host, peer: identity.peers[host], isScanning: isScanning))
                }
            }
            if isMissed { continue }
            if isScanning { report(packet, to: host, &hosts, &context) }
            if isAwaited {
                answer(packet, by: host, &hosts, &context)
                break
            }
        }
        if isTapped { report(packet, receptions, missedBy: missed, &context) }
    }

    /// Answers a connectable packet that a host waits for; the link is up after the delay.
    private func answer(_ packet: AirPacket, by host: Int, _ hosts: inout Hosts, _ context: inout WorldContext) {
        hosts[host].connecting.remove(identity.peers[host])
        let interval = description.connectionInterval ?? context.configuration.connectionInterval
        let delay = context.configuration.connectionDelay.nanoseconds + interval.nanoseconds
        context.queue.schedule(
            .established(host, packet.device, epoch: hosts[host].adapter.epoch, .requested), at: context.now + delay)
    }

    private mutating func report(_ packet: AirPacket, to host: Int, _ hosts: inout Hosts, _ context: inout WorldContext)
    {
        if !advertiser.isHeard(packet.index, by: host, in: hosts[host].scanning.epoch) {
            remember(packet.index, on: host, &hosts, &context)
        }
        for position in hosts[host].scanning.scanners.indices {
            let known = hosts[host].scanning.scanners[position].reports[packet.reportKey]
            guard let known, known.generation == packet.generation else {
                reportFirst(packet, to: host, position, &hosts, &context)
                continue
            }
            guard hosts[host].scanning.wantsDuplicates, var report = known.discovery,
                hosts[host].scanning.scanners[position].filter.parameters.allowDuplicates
            else { continue }
            report.rssi = packet.rssi
            context.emit(.discovered(report), to: hosts[host].scanning.scanners[position].manager)
        }
    }

    /// Reports the first packet with certain data: its advertisement, then its scan response.
    private mutating func reportFirst(
        _ packet: AirPacket, to host: Int, _ position: Int, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        let peer = identity.peers[host]
        if hosts[host].peers[peer] == nil { remember(packet.index, on: host, &hosts, &context) }
        guard let known = hosts[host].peers[peer] else { return }
        let set = advertiser.sets[packet.index]
        let manager = hosts[host].scanning.scanners[position].manager
        var last: Discovery?
        for content in [set.advertisement, set.scanResponse].compactMap({ $0 }) {
            let report = Discovery(
                peer: peer, name: known.name, advertisement: content, rssi: packet.rssi,
                address: known.address.description)
            guard let admitted = hosts[host].scanning.scanners[position].filter.admit(report) else { continue }
            last = admitted
            context.emit(.discovered(admitted), to: manager)
        }
        // Data of other sets may still be merged in, so only the only set of a device is remembered as merged.
        if !hosts[host].scanning.wantsDuplicates || advertiser.sets.count == 1 {
            hosts[host].scanning.scanners[position].reports[packet.reportKey] = HostScanning.Report(
                generation: packet.generation, discovery: last)
        }
    }

    /// Lets a host remember the device that it heard, and records that its scanners have the data of the set.
    private mutating func remember(_ index: Int, on host: Int, _ hosts: inout Hosts, _ context: inout WorldContext) {
        let (peer, set) = (identity.peers[host], advertiser.sets[index])
        let name = set.scanResponse?.localName ?? set.advertisement.localName
        if let known = hosts[host].peers[peer] {
            if let name, name != known.advertisedName {
                hosts[host].peers[peer]?.advertisedName = name
                if known.deviceName == nil { hosts.reportName(peer, name, .advertised, on: host, &context) }
            }
        } else {
            hosts[host].peers[peer] = KnownPeer(address: identity.address, advertisedName: name)
        }
        advertiser.setHeard(index, by: host, in: hosts[host].scanning.epoch)
    }

    // MARK: Addresses

    /// Schedules the next change to a new private address, if the device changes it.
    func scheduleRotation(_ ref: Ref<Device>, _ context: inout WorldContext) {
        guard let period = description.addressRotation else { return }
        context.queue.schedule(.rotateAddress(ref), at: context.now + period.nanoseconds, isPeriodic: true)
    }

    /// Changes the address, to a new private one if it is nil; hosts without the device's keys get a new identifier.
    ///
    /// - Returns: The old and the new address.
    mutating func changeAddress(
        to address: DeviceAddress?, asIdentity: Bool, _ ref: Ref<Device>, _ security: Security, _ hosts: inout Hosts,
        _ context: inout WorldContext
    ) -> (old: DeviceAddress, new: DeviceAddress) {
        let (old, address) = (identity.address, address ?? identity.nextPrivateAddress())
        identity.address = address
        if asIdentity { identity.identityAddress = address }
        for host in hosts.indices {
            if security.isBonded(host, with: identity.identityAddress) {
                hosts[host].peers[identity.peers[host]]?.address = address
            } else {
                identity.peers[host] = hosts[host].identity.peerID(of: address)
            }
        }
        advertiser.addressChanged()
        reportChange(ref, &context)
        wake(ref, hosts, &context)
        return (old, address)
    }

    // MARK: Silence

    /// Returns the reason for which a scan will not report the device; nil if it will.
    func silence(for parameters: ScanParameters) -> String? {
        if !signal.isOn { return "its host is off" }
        if !signal.isInRange { return "it is out of range" }
        if advertiser.sets.isEmpty { return "it has no advertising set" }
        let enabled = advertiser.sets.filter(\.isEnabled)
        if enabled.isEmpty { return "its advertising is off" }
        if !links.isEmpty, !enabled.contains(where: \.description.continuesWhileConnected) {
            return "it is connected and does not advertise meanwhile"
        }
        var heard = Advertisement()
        for set in enabled {
            _ = heard.merge(set.advertisement)
            if let scanResponse = set.scanResponse { _ = heard.merge(scanResponse) }
        }
        if parameters.matches(heard) { return nil }
        func list(_ uuids: [BluetoothUUID]?) -> String { "[\((uuids ?? []).map(\.text).joined(separator: ","))]" }
        return "it advertises services=\(list(heard.serviceUUIDs)), not \(list(parameters.services))"
    }
}
