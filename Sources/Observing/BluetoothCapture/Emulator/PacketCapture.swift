import BluetoothBackend
package import BluetoothEmulator
package import BluetoothHCI
import BluetoothSupport

/// The packets between hosts and their controllers, computed from the events of a tap.
///
/// A pure value: events in, records of a capture file out.
struct PacketCapture {
    let settings: CaptureSettings
    private let origin: CaptureTime
    var order = PacketOrder()
    /// The hosts, by their index in the world.
    private(set) var hosts: [Int: TappedHost] = [:]
    private var numbers: [Int: Int] = [:]
    var devices: [UInt32: TappedDevice] = [:]
    var databases: [UInt32: [TappedService]] = [:]
    var links: [UInt32: CapturedLink] = [:]
    var handles = ConnectionHandles()
    var channels: [ChannelID: CapturedChannel] = [:]
    var reports = ReportLimiter()
    /// Whether the tap reports new events, instead of the initial state.
    private(set) var hasBegun = false

    /// - Parameter origin: The time at which the world began.
    init(origin: CaptureTime, settings: CaptureSettings = CaptureSettings()) {
        (self.origin, self.settings) = (origin, settings)
    }

    mutating func handle(_ event: TapEvent) -> [CaptureRecord] {
        let now = event.time
        switch event.kind {
        case .began: hasBegun = true
        case .dropped(let count): appendNote("\(count) events are missing here: the capture was too slow", at: now)
        case .note(let text): appendNote(text, at: now)
        case .control(let source, let text, _, _): appendNote("\(source): \(text)", at: now)
        case .hostAdded(let host): add(host, at: now)
        case .hostChanged(let host): change(host, at: now)
        case .bondMade, .bondRemoved, .keysLost: break
        case .deviceAdded(let device), .deviceChanged(let device): devices[device.number] = device
        case .deviceRemoved(let device):
            devices[device] = nil
            databases[device] = nil
            reports.forget(device)
        case .servicesChanged(let device, let services): databases[device] = services
        case .faultApplied(let device, let step, let effect):
            appendNote("fault of \(name(ofDevice: device)): \(step): \(effect)", at: now)
        case .advertising(let packet): report(packet, at: now)
        case .att, .mtuChanged: handleATT(event.kind, at: now)
        case .connectionOpened, .connectionFailed, .connectionClosed, .parametersChanged, .packetsLost:
            handleLink(event.kind, at: now)
        case .securityChanged, .pairingStarted, .pairingMethodChosen, .pairingSucceeded, .pairingFailed:
            handleSecurity(event.kind, at: now)
        case .channelOpened, .channelRefused, .channelData, .channelCredits, .channelClosed:
            handleChannel(event.kind, at: now)
        // The Security Managers of such hosts pair outside of the emulator.
        case .externalPairingRequested, .externalPairingAnswered: break
        case .externalPacket(let link, let side, let channel, let payload):
            send(payload, on: channel, of: link, from: side, at: now)
        case .hciPacket(let host, let isReceived, let type, let bytes):
            guard let kind = HCIPacket.Kind(rawValue: type) else { break }
            record(HCIPacket(kind: kind, isReceived: isReceived, body: bytes), of: host, at: now)
        }
        return order.removeReady(at: now)
    }

    /// Removes the remaining records at the end of the capture.
    mutating func finish() -> [CaptureRecord] { order.removeReady(at: nil) }

    // MARK: Records

    /// Appends a packet that a host and its controller would exchange; hosts outside of the emulator have packets of their own.
    mutating func append(_ packet: HCIPacket, of host: Int, at time: Duration, comment: String? = nil) {
        if hosts[host]?.isExternal != true { record(packet, of: host, at: time, comment: comment) }
    }

    /// Records a packet of a host; ignores a host that the tap did not report.
    private mutating func record(_ packet: HCIPacket, of host: Int, at time: Duration, comment: String? = nil) {
        guard let number = numbers[host] else { return }
        order.append(
            .packet(CapturedPacket(host: number, time: date(time), packet: packet, comment: comment)), at: time)
    }

    mutating func appendNote(_ text: String, at time: Duration) { order.append(.note(text, at: date(time)), at: time) }

    private func date(_ time: Duration) -> CaptureTime { origin &+ CaptureTime(max(0, time / .nanoseconds(1))) }

    // MARK: Hosts

    private mutating func add(_ host: TappedHost, at now: Duration) {
        hosts[host.index] = host
        numbers[host.index] = numbers.count
        order.append(.host(CapturedHost(name: host.name, address: HCIAddress(host.identityAddress))), at: now)
        appendAddress(of: host, at: now)
    }

    private mutating func change(_ host: TappedHost, at now: Duration) {
        let old = hosts.updateValue(host, forKey: host.index)
        if old?.identityAddress != host.identityAddress { appendAddress(of: host, at: now) }
        if old?.state != host.state { appendNote("host \(host.name): \(host.state)", at: now) }
    }

    private mutating func appendAddress(of host: TappedHost, at now: Duration) {
        append(.readAddress, of: host.index, at: now)
        append(.addressRead(HCIAddress(host.identityAddress)), of: host.index, at: now)
    }

    func name(ofDevice number: UInt32) -> String { devices[number]?.name ?? "device \(number)" }

    // MARK: Advertising

    private mutating func report(_ packet: TappedAdvertisingPacket, at now: Duration) {
        for host in packet.missedBy { reports.miss(packet.device, host: host) }
        guard reports.allows(packet, settings.advertising, at: now) else { return }
        let report = AdvertisingReport(packet, of: devices[packet.device])
        let packets =
            packet.isExtended || report.data.count > 31
            ? HCIPacket.extendedAdvertisingReports(report) : [.advertisingReport(report)]
        for reception in packet.receptions where reception.isScanning {
            let comment = reports.comment(for: packet.device, host: reception.host)
            for (index, packet) in packets.enumerated() {
                append(packet, of: reception.host, at: now, comment: index == 0 ? comment : nil)
            }
        }
    }
}

/// A counter of each device's advertising packets per second, and of those that are not captured.
struct ReportLimiter {
    private struct Count {
        var second: Int64 = -1
        var packets = 0
        var suppressed = 0
        /// The number of missed packets, by host.
        var missed: [Int: Int] = [:]
    }

    private var counts: [UInt32: Count] = [:]

    /// Returns whether a packet is captured; a scan response is captured with its advertisement.
    mutating func allows(
        _ packet: TappedAdvertisingPacket, _ setting: CaptureSettings.Advertising, at now: Duration
    ) -> Bool {
        guard case .limited(let limit) = setting else { return setting == .all }
        let second = now.components.seconds
        var count = counts[packet.device] ?? Count()
        if count.second != second { (count.second, count.packets) = (second, 0) }
        if !packet.isScanResponse { count.packets += 1 }
        let isAllowed = count.packets <= limit
        if !isAllowed { count.suppressed += 1 }
        counts[packet.device] = count
        return isAllowed
    }

    mutating func miss(_ device: UInt32, host: Int) { counts[device, default: Count()].missed[host, default: 0] += 1 }

    mutating func forget(_ device: UInt32) { counts[device] = nil }

    /// Returns a comment about the preceding packets that are not in the file; nil if none are missing.
    mutating func comment(for device: UInt32, host: Int) -> String? {
        guard var count = counts[device] else { return nil }
        let missed = count.missed.removeValue(forKey: host)
        defer { counts[device] = count }
        var parts = missed.map { ["\($0) packets of this device before this one were missed"] } ?? []
        if count.suppressed > 0 { parts.append("\(count.suppressed) before this one are not captured") }
        count.suppressed = 0
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

extension HCIAddress {
    package init(_ address: DeviceAddress) { self.init(bits: address.bits, isRandom: address.isRandom) }
}

extension AdvertisingReport {
    /// Creates the report of a packet on the emulated air.
    ///
    /// A legacy packet that is connectable is scannable, too; another one without its device counts as not scannable.
    package init(_ packet: TappedAdvertisingPacket, of device: TappedDevice?) {
        self.init(
            address: HCIAddress(packet.address),
            data: packet.data.structures(withFlags: packet.isConnectable && !packet.isScanResponse),
            rssi: Int8(clamping: packet.rssi), isConnectable: packet.isConnectable,
            isScannable: packet.isConnectable && !packet.isExtended || device?.scanResponse(to: packet) != nil,
            isScanResponse: packet.isScanResponse)
    }
}

extension TappedDevice {
    /// The response to a scan request after a packet.
    package func scanResponse(to packet: TappedAdvertisingPacket) -> AdvertisingData? {
        packet.set < advertising.count ? advertising[packet.set].description.scanResponse : nil
    }
}

extension AdvertisingData {
    /// The AD structures, in the order in which common stacks send them.
    package func structures(withFlags: Bool) -> [UInt8] {
        if let encoded { return encoded }
        var structures = AdvertisingStructures()
        if withFlags, !otherStructures.contains(where: { $0.type == 0x01 }) { structures.addFlags() }
        structures.add(services: services)
        structures.add(services: solicitedServices, areSolicited: true)
        for (uuid, data) in serviceData.sorted(by: { $0.key < $1.key }) { structures.add(serviceData: data, of: uuid) }
        if let txPowerLevel { structures.add(txPower: txPowerLevel) }
        if let localName { structures.add(localName: localName) }
        if let manufacturerData { structures.add(manufacturerData: manufacturerData) }
        for structure in otherStructures { structures.add(structure) }
        return structures.bytes
    }
}
