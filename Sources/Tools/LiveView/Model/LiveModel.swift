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
        case .dropped(let count): return [.log(line(.note, "\(count) events were too many at once", isProblem: true))]
        case .note(let text): return [.log(line(.note, text))]
        case .control(let source, let text, let device):
            return [.log(line(.control, "\(source): \(text)", device: device))]
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
            let text = "fault of \(step.rawValue): \(effect.words)"
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
            [.log(line(.security, "bonded with \(bond.identityAddress)", host: host))]
        case .bondRemoved(let host, _, let address):
            [.log(line(.security, "bond with \(address) removed", host: host))]
        case .keysLost(let device, let host):
            [.log(line(.security, "keys of \(host?.description ?? "all hosts") lost", device: device, isProblem: true))]
        default: []
        }
    }

    // MARK: Links

    private mutating func linkEvents(_ kind: TapEvent.Kind) -> [LiveEvent.Kind] {
        switch kind {
        case .connectionOpened(let connection):
            let link = LiveLink(connection)
            links[link.id] = link
            return [.link(link), .log(line(.link, "connected, MTU \(link.mtu)", of: link))] + deviceEvent(link.device)
        case .connectionFailed(let host, _, let code):
            return [.log(line(.link, "connection failed: \(code)", host: host, isProblem: true))]
        case .connectionClosed(let link, .central, let reason): return close(link, reason)
        case .mtuChanged(let link, let mtu): return change(link, "MTU \(mtu)") { $0.mtu = mtu }
        case .parametersChanged(let link, let parameters):
            return change(link, "interval \(parameters.interval)") { $0.interval = parameters.interval / .seconds(1) }
        case .securityChanged(let link, let level):
            return change(link, "security: \(level)", .security) { $0.security = "\(level)" }
        case .packetsLost(let link, let count):
            return change(link, "packets lost: \(count)", isProblem: true) { $0.lost += count }
        case .att(let link, let message): return attEvents(link, message)
        case .pairingStarted(let link): return log(link, .security, "pairing started")
        case .pairingMethodChosen(let link, let features):
            return log(link, .security, "pairing by \(features.method)")
        case .pairingSucceeded(let link, let isBonded):
            return log(link, .security, isBonded ? "paired and bonded" : "paired")
        case .pairingFailed(let link, let code):
            return log(link, .security, "pairing failed: \(code)", isProblem: true)
        default: return []
        }
    }

    private mutating func close(_ number: UInt32, _ reason: DisconnectReason) -> [LiveEvent.Kind] {
        guard let link = links.removeValue(forKey: number) else { return [] }
        requests[number] = nil
        busyLinks.remove(number)
        channels = channels.filter { $0.value != number }
        let isProblem = ![.local, .remote].contains(reason)
        let text = "link closed: \(reason.rawValue)"
        return [.linkClosed(number, reason), .log(line(.link, text, of: link, isProblem: isProblem))]
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
        return [.log(line)]
    }

    // MARK: Channels

    private mutating func channelEvents(_ kind: TapEvent.Kind) -> [LiveEvent.Kind] {
        switch kind {
        case .channelOpened(let link, let channel, let psm, _):
            channels[channel] = link
            return log(link, .channel, "channel \(channel.rawValue) opened, PSM \(psm)")
        case .channelRefused(let link, let psm, let refusal):
            return log(link, .channel, "channel of PSM \(psm) refused: \(refusal)", isProblem: true)
        case .channelData(let channel, let side, let data):
            guard let link = channels[channel] else { return [] }
            if side == .central {
                links[link]?.countSent(data.count)
            } else {
                links[link]?.countReceived(data.count)
            }
            busyLinks.insert(link)
            return []
        case .channelClosed(let channel, let side):
            guard let link = channels.removeValue(forKey: channel) else { return [] }
            let name = side == .central ? "host" : "device"
            return log(link, .channel, "channel \(channel.rawValue) closed by the \(name)")
        default: return []
        }
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
