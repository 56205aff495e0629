import BluetoothBackend
package import BluetoothEmulator
import BluetoothSupport
import BluetoothValues

/// The state of a world, updated by the events of a tap, and the events for its observers.
package struct LiveModel: Sendable {
    private var hosts: [LiveHost] = []
    private var devices: [UInt32: TappedDevice] = [:]
    private var links: [UInt32: LiveLink] = [:]
    /// The names of the attributes of a device.
    private var attributes: [UInt32: AttributeNames] = [:]
    /// The unanswered request of each link.
    private var requests: [UInt32: ATTRequest] = [:]
    /// The links of open channels.
    private var channels: [ChannelID: UInt32] = [:]
    private var hasBegun = false
    /// The packets since the last ``takeTraffic()``.
    private var packets: [UInt32: Int] = [:]
    private var busyLinks: Set<UInt32> = []
    private var wasBusy = false

    package init() {}

    // MARK: The state

    package var liveHosts: [LiveHost] { hosts }
    package var liveLinks: [LiveLink] { links.values.sorted { $0.id < $1.id } }
    package var liveDevices: [LiveDevice] {
        devices.values.sorted { $0.number < $1.number }.map(liveDevice)
    }

    private func liveDevice(_ device: TappedDevice) -> LiveDevice {
        LiveDevice(device, links: links.values.count { $0.device == device.number })
    }

    /// Returns the traffic since the last call; nil without traffic in this and the previous period.
    package mutating func takeTraffic() -> LiveEvent.Kind? {
        let isBusy = !packets.isEmpty || !busyLinks.isEmpty
        defer { (packets, busyLinks, wasBusy) = ([:], [], isBusy) }
        guard isBusy || wasBusy else { return nil }
        return .traffic(air: packets, busyLinks.sorted().compactMap { links[$0] })
    }

    // MARK: Events

    /// Applies an event of the tap.
    ///
    /// - Returns: The events for readers; none while the tap still describes the initial world.
    package mutating func events(for event: TapEvent) -> [LiveEvent.Kind] {
        let events = apply(event.kind)
        return hasBegun ? events : []
    }

    private mutating func apply(_ kind: TapEvent.Kind) -> [LiveEvent.Kind] {
        switch kind {
        case .began:
            hasBegun = true
            return []
        case .dropped(let count):
            return [.log(line(.note, "\(count) events were too many at once and are missing", isProblem: true))]
        case .note(let text): return [.log(line(.note, text.capitalizedFirst))]
        case .control(let source, _, let words, let device):
            return [.log(line(.control, "\(source) \(words)".capitalizedFirst, device: device))]
        case .hostAdded(let host), .hostChanged(let host): return update(host)
        case .deviceAdded(let device), .deviceChanged(let device):
            devices[device.number] = device
            return [.device(liveDevice(device))]
        case .deviceRemoved(let device):
            devices[device] = nil
            attributes[device] = nil
            return [.deviceRemoved(device)]
        case .servicesChanged(let device, let services):
            attributes[device] = AttributeNames(services)
            return [.services(device)]
        case .faultApplied(let device, let step, let effect):
            let text = "\(effect.words(for: step)) by a fault"
            return [.log(line(.note, text, device: device, isProblem: true)), .services(device)]
        case .advertising(let packet):
            packets[packet.device, default: 0] += 1
            return []
        case .bondMade, .bondRemoved, .keysLost: return bondEvents(kind)
        case .channelOpened, .channelRefused, .channelData, .channelCredits, .channelClosed: return channelEvents(kind)
        default: return linkEvents(kind)
        }
    }

    private mutating func update(_ host: TappedHost) -> [LiveEvent.Kind] {
        let live = LiveHost(host)
        if hosts.indices.contains(host.index) { hosts[host.index] = live } else { hosts.append(live) }
        return [.host(live)]
    }

    private func bondEvents(_ kind: TapEvent.Kind) -> [LiveEvent.Kind] {
        switch kind {
        case .bondMade(let host, let bond):
            [.log(line(.security, "Bonded", with: bond.identityAddress, host))]
        case .bondRemoved(let host, _, let address):
            [.log(line(.security, "Bond removed", with: address, host))]
        case .keysLost(let device, let host):
            [.log(line(.security, "Keys of \(host?.description ?? "all hosts") lost", device: device, isProblem: true))]
        default: []
        }
    }

    /// Returns a line about the device with an identity address, which is named if there is no such device.
    private func line(
        _ category: LiveLogLine.Category, _ text: String, with address: DeviceAddress, _ host: Int
    ) -> LiveLogLine {
        let device = devices.values.first { $0.identityAddress == address }?.number
        return line(category, device == nil ? "\(text): \(address)" : text, host: host, device: device)
    }

    // MARK: Links

    private mutating func linkEvents(_ kind: TapEvent.Kind) -> [LiveEvent.Kind] {
        switch kind {
        case .connectionOpened(let connection):
            let link = LiveLink(connection)
            links[link.id] = link
            return [.link(link), .log(line(.link, "Connected, MTU \(link.mtu)", of: link))] + deviceEvent(link.device)
        case .connectionFailed(let host, _, let code):
            return [.log(line(.link, "Connection failed: \(code.words)", host: host, isProblem: true))]
        case .connectionClosed(let link, .central, let reason): return close(link, reason)
        case .mtuChanged(let link, let mtu): return change(link, "MTU is \(mtu)") { $0.mtu = mtu }
        case .parametersChanged(let link, let parameters):
            return change(link, "Connection interval is \(parameters.interval.words)") {
                $0.interval = parameters.interval / .seconds(1)
            }
        case .securityChanged(let link, let level):
            return change(link, "Link is \(level.words)", .security) {
                ($0.security, $0.isEncrypted) = (level.words, level.isEncrypted)
            }
        case .packetsLost(let link, let count):
            let text = count == 1 ? "1 packet lost" : "\(count) packets lost"
            return change(link, text, isProblem: true) { $0.lost += count }
        case .att(let link, let message): return attEvents(link, message)
        case .pairingStarted(let link): return log(link, .security, "Pairing started")
        case .pairingMethodChosen(let link, let features):
            return change(link, "Pairing method: \(features.method.words)", .security) {
                $0.pairing = features.method.words
            }
        case .pairingSucceeded(let link, let isBonded):
            return log(link, .security, isBonded ? "Paired and bonded" : "Paired")
        case .pairingFailed(let link, let code):
            return log(link, .security, "Pairing failed: \(code.words)", isProblem: true)
        default: return []
        }
    }

    private mutating func close(_ number: UInt32, _ reason: DisconnectReason) -> [LiveEvent.Kind] {
        guard let link = links.removeValue(forKey: number) else { return [] }
        requests[number] = nil
        busyLinks.remove(number)
        channels = channels.filter { $0.value != number }
        let isProblem = ![.local, .remote].contains(reason)
        return [.linkClosed(number, reason), .log(line(.link, reason.words, of: link, isProblem: isProblem))]
            + deviceEvent(link.device)
    }

    /// Returns the event of a device whose number of links has changed.
    private func deviceEvent(_ number: UInt32) -> [LiveEvent.Kind] {
        devices[number].map { [.device(liveDevice($0))] } ?? []
    }

    private mutating func change(
        _ number: UInt32, _ text: String, _ category: LiveLogLine.Category = .link, isProblem: Bool = false,
        _ body: (inout LiveLink) -> Void
    ) -> [LiveEvent.Kind] {
        guard var link = links[number] else { return [] }
        body(&link)
        links[number] = link
        return [.link(link), .log(line(category, text, of: link, isProblem: isProblem))]
    }

    private func log(
        _ number: UInt32, _ category: LiveLogLine.Category, _ text: String, isProblem: Bool = false
    ) -> [LiveEvent.Kind] {
        links[number].map { [.log(line(category, text, of: $0, isProblem: isProblem))] } ?? []
    }

    // MARK: The Attribute Protocol

    private mutating func attEvents(_ number: UInt32, _ message: ATTMessage) -> [LiveEvent.Kind] {
        guard let link = links[number] else { return [] }
        let names = attributes[link.device] ?? AttributeNames([])
        let words = names.words(for: message, answering: requests[number])
        let operation = LiveOperation(message, answering: requests[number])
        switch message {
        case .request(let request, _): requests[number] = request
        case .response: requests[number] = nil
        default: break
        }
        if words.direction == .toDevice {
            links[number]?.countSent(words.value?.count ?? 0)
        } else {
            links[number]?.countReceived(words.value?.count ?? 0)
        }
        busyLinks.insert(number)
        var line = line(.att, words.text, of: link, isProblem: words.isProblem)
        (line.direction, line.value, line.meaning) = (words.direction, words.value?.hexText, words.meaning)
        line.operation = operation
        return [.log(line)]
    }

    // MARK: Channels

    private mutating func channelEvents(_ kind: TapEvent.Kind) -> [LiveEvent.Kind] {
        switch kind {
        case .channelOpened(let link, let channel, let psm, _):
            channels[channel] = link
            return log(link, .channel, "Channel \(channel.rawValue) opened, PSM \(psm)")
        case .channelRefused(let link, let psm, let refusal):
            return log(link, .channel, "Channel of PSM \(psm) refused: \(refusal.words)", isProblem: true)
        case .channelData(let channel, let side, let data): return dataEvents(channel, side, data)
        case .channelClosed(let channel, let side):
            guard let link = channels.removeValue(forKey: channel) else { return [] }
            let name = side == .central ? "host" : "device"
            return log(link, .channel, "Channel \(channel.rawValue) closed by the \(name)")
        default: return []
        }
    }

    private mutating func dataEvents(_ channel: ChannelID, _ side: LinkSide, _ data: Data) -> [LiveEvent.Kind] {
        guard let number = channels[channel], let link = links[number] else { return [] }
        if side == .central {
            links[number]?.countSent(data.count)
        } else {
            links[number]?.countReceived(data.count)
        }
        busyLinks.insert(number)
        let size = data.count == 1 ? "1 byte" : "\(data.count) bytes"
        var line = line(.channel, "Data of channel \(channel.rawValue): \(size)", of: link)
        (line.direction, line.operation) = (side == .central ? .toDevice : .fromDevice, .channel)
        return [.log(line)]
    }

    // MARK: Lines

    private func line(
        _ category: LiveLogLine.Category, _ text: String, host: Int? = nil, device: UInt32? = nil,
        isProblem: Bool = false
    ) -> LiveLogLine {
        LiveLogLine(category: category, host: host, device: device, text: text, isProblem: isProblem)
    }

    private func line(
        _ category: LiveLogLine.Category, _ text: String, of link: LiveLink, isProblem: Bool = false
    ) -> LiveLogLine {
        LiveLogLine(
            category: category, host: link.host, device: link.device, link: link.id, text: text, isProblem: isProblem)
    }
}

extension DisconnectReason {
    /// The end of a link as its host sees it; the codes are those of the Core Specification, Vol 1, Part F, 1.3.
    var words: String {
        switch self {
        case .local: "Link closed by the host"
        case .remote: "Link closed by the device"
        case .timeout: "Link lost: supervision timeout (0x08)"
        case .authentication: "Link closed: authentication failure (0x05)"
        case .unknown: "Link ended: the reason is unknown"
        }
    }
}
