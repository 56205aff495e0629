import BluetoothBackend
import BluetoothSupport

/// The medium that all devices share: the devices, their addresses, and the packets that advertise them.
///
/// A set that no host listens to schedules nothing.
struct Air: Sendable {
    var devices = SlotTable<Device>()
    private var addresses: Set<DeviceAddress> = []
    /// The number of advertising packets that were sent.
    private(set) var packets: UInt64 = 0
    /// Whether packets may be lost on some link.
    private(set) var isLossy = false
    /// The advertising events under way; empty if packets do not collide.
    private var collisions = AdvertisingCollisions()
    private var receptionRandom: SeededGenerator
    private var lossRandom: SeededGenerator

    init(seed: UInt64) {
        receptionRandom = SeededGenerator(seed: seed, stream: "reception")
        lossRandom = SeededGenerator(seed: seed, stream: "loss")
    }

    // MARK: Devices

    /// Checks that no device has an address.
    func requireFree(_ address: DeviceAddress) throws(DescriptionError) {
        try require(!addresses.contains(address), "address", "another device has the address \(address)")
    }

    mutating func insert(_ device: Device) -> Ref<Device> {
        addresses.insert(device.identity.address)
        allowLosses(at: device.signal.packetLossRate)
        return devices.insert(device)
    }

    /// Lets a new device advertise, and rotate its address.
    mutating func begin(_ ref: Ref<Device>, _ hosts: Hosts, _ context: inout WorldContext) {
        devices[ref]?.begin(ref, hosts, &context)
    }

    mutating func remove(_ ref: Ref<Device>) -> Device? {
        guard let device = devices.remove(ref) else { return nil }
        addresses.remove(device.identity.address)
        return device
    }

    /// Returns the device that a host knows as `peer`.
    func device(_ peer: PeerID, on host: Int) -> SlotTable<Device>.Entry? {
        let ref = devices.refsInAnyOrder.first { devices[$0]?.identity.peers[host] == peer }
        return ref.flatMap { ref in devices[ref].map { (ref, $0) } }
    }

    /// Whether the host behind a device is on; true for a described device.
    func isOn(_ ref: Ref<Device>) -> Bool { devices[ref]?.signal.isOn == true }

    /// The links that a device knows of.
    func links(of ref: Ref<Device>) -> [Ref<Link>] { devices[ref]?.links ?? [] }

    /// The links of a host's peripheral role.
    func serverLinks(of host: Host) -> [Ref<Link>] { host.server.map(links(of:)) ?? [] }

    /// The devices that no host's managers form.
    var described: [SlotTable<Device>.Entry] { devices.entries.filter { $0.element.host == nil } }

    mutating func reportChange(of ref: Ref<Device>, _ context: inout WorldContext) {
        devices[ref]?.reportChange(ref, &context)
    }

    /// Records which devices a starting scan will not report, and why; at most ten.
    func noteSilentDevices(for parameters: ScanParameters, on host: Int, _ context: inout WorldContext) {
        guard context.isNoting else { return }
        var count = 0
        for (ref, device) in devices.entries where device.host != host {
            guard let reason = device.silence(for: parameters) else { continue }
            count += 1
            guard count <= 10 else { return }
            let name = device.description.name
            context.log("device \(ref.serial) \"\(name)\" will not be discovered: \(reason)", of: name)
        }
    }

    // MARK: Losses

    /// Allows that packets are lost, if a rate is not 0.
    mutating func allowLosses(at rate: Double) { if rate > 0 { isLossy = true } }

    /// Draws the time that lost packets add to a number of round trips on a link, and reports the losses.
    ///
    /// - Returns: The time, and whether consecutive losses lasted as long as the supervision timeout.
    mutating func retransmissionTime(
        _ roundTrips: Int, on ref: Ref<Link>, _ link: Link, _ context: inout WorldContext
    ) -> (time: Nanoseconds, isLinkLost: Bool) {
        let device = devices[link.device]?.nameAndLossRate
        let rate = max(context.configuration.packetLossRate, device?.lossRate ?? 0, context.interference)
        guard rate > 0 else { return (0, false) }
        let losses = drawLosses(roundTrips, rate, link.timing)
        if losses.time > 0 {
            let count = Int(losses.time / link.timing.interval)
            context.trace.log(.losses(count), of: device?.name, at: context.now)
            if context.tapped.contains(.links) { context.report(.packetsLost(link: ref.serial, count: count)) }
        }
        return losses
    }

    /// Draws the losses of a number of round trips; each lost packet is sent again with the next connection event.
    private mutating func drawLosses(
        _ roundTrips: Int, _ lossRate: Double, _ timing: LinkTiming
    ) -> (time: Nanoseconds, isLinkLost: Bool) {
        var lost: Nanoseconds = 0
        for _ in 0..<max(1, roundTrips) {
            var inARow: Nanoseconds = 0
            while lossRandom.happens(lossRate) {
                inARow += timing.interval
                guard inARow < timing.supervisionTimeout else { return (lost + inARow, true) }
            }
            lost += inARow
        }
        return (lost, false)
    }

    // MARK: Advertising

    /// Schedules the next packets of all devices that a host listens to.
    mutating func wakeAll(_ hosts: Hosts, _ context: inout WorldContext) {
        for device in devices.refs { wake(device, hosts, &context) }
    }

    /// Schedules the next packets of a device that a host listens to.
    mutating func wake(_ ref: Ref<Device>, _ hosts: Hosts, _ context: inout WorldContext) {
        devices[ref]?.wake(ref, hosts, &context)
    }

    /// Starts the sets that were switched on, for their durations.
    mutating func startAdvertising(_ ref: Ref<Device>, _ hosts: Hosts, _ context: inout WorldContext) {
        devices[ref]?.startAdvertising(ref, hosts, &context)
    }

    /// Sends a packet of a set, and schedules the next one if a host listens.
    mutating func advertise(_ packet: AirPacket, _ hosts: inout Hosts, _ context: inout WorldContext) {
        let isSent = devices[packet.device]?.advertise(packet, &collisions, &receptionRandom, &hosts, &context)
        if isSent == true { packets += 1 }
    }

    /// Delivers an event to the hosts that listened on a channel without an overlap, if the set is still on the air.
    mutating func advertisingEventOver(_ packet: AirPacket, _ hosts: inout Hosts, _ context: inout WorldContext) {
        guard let event = collisions.end(packet) else { return }
        devices[packet.device]?.eventOver(packet, event, &receptionRandom, &hosts, &context)
    }
}

// Address privacy: devices with changing addresses, recognized by peers with their keys.
extension Air {
    /// Changes a device to a new resolvable private address; its links stay.
    ///
    /// Hosts with its keys recognize it; others see a new device. Source: Core Specification, Vol 6, Part B, 1.3.2.2.
    mutating func rotateAddress(
        of ref: Ref<Device>, _ security: Security, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        guard let device = devices[ref] else { return }
        if let host = device.host { return rotateAddress(ofHost: host, security, &hosts, &context) }
        changeAddress(of: ref, to: nil, security, &hosts, &context)
    }

    /// Changes a host, as central and as peripheral, to a new resolvable private address; its links stay.
    mutating func rotateAddress(
        ofHost host: Int, _ security: Security, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        hosts[host].identity.rotate(seed: context.random.seed)
        hosts.reportChange(of: host, &context)
        guard let server = hosts[host].server else { return }
        changeAddress(of: server, to: hosts[host].identity.airAddress, security, &hosts, &context)
    }

    /// Tells all hosts a device's new address; hosts without its keys get a new identifier.
    ///
    /// - Parameter address: The address; nil makes a resolvable private one.
    mutating func changeAddress(
        of ref: Ref<Device>, to address: DeviceAddress?, asIdentity: Bool = false, _ security: Security,
        _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        guard
            let (old, new) = devices[ref]?.changeAddress(
                to: address, asIdentity: asIdentity, ref, security, &hosts, &context)
        else { return }
        addresses.remove(old)
        addresses.insert(new)
    }

    /// Rotates a host's address, and schedules the next rotation.
    mutating func rotationDue(
        ofHost host: Int, _ security: Security, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        guard let period = hosts[host].identity.rotation else { return }
        rotateAddress(ofHost: host, security, &hosts, &context)
        context.queue.schedule(.rotateHostAddress(host), at: context.now + period.nanoseconds, isPeriodic: true)
    }

    /// Rotates a device's address, and schedules the next rotation.
    mutating func rotationDue(
        of ref: Ref<Device>, _ security: Security, _ hosts: inout Hosts, _ context: inout WorldContext
    ) {
        rotateAddress(of: ref, security, &hosts, &context)
        devices[ref]?.scheduleRotation(ref, &context)
    }
}
