import BluetoothBackend
import BluetoothSupport
import BluetoothTracing
import BluetoothValues

/// A converter of central managers' requests and their results into the events of a tap, from the app's point of view.
///
/// A pure value. It remembers the addresses of the 1,024 most recently heard peers, and at most 256 requests per link.
struct SessionTap: Sendable {
    /// The only host, which is the machine.
    static let host = 0

    struct LinkKey: Hashable, Sendable {
        var role: Int
        var link: LinkID
    }

    struct ChannelKey: Hashable, Sendable {
        var role: Int
        var channel: ChannelID
    }

    private static let maximumRequests = 256

    private var peers = LRUCache<PeerID, DeviceAddress>(limit: 1_024)
    private var links: [LinkKey: SessionLink] = [:]
    private var channels: [ChannelKey: ChannelID] = [:]
    private var lastNumber: UInt32 = 0
    private var hasBegun = false

    /// Returns the events that follow from a message.
    mutating func events(_ message: ObservedMessage) -> [TapEvent] {
        var kinds: [TapEvent.Kind] = []
        if !hasBegun {
            hasBegun = true
            kinds += [.hostAdded(.machine(message.backend)), .began]
        }
        switch message.content {
        case .command(let command): kinds += self.kinds(command, message)
        case .event(let event): kinds += self.kinds(event, message)
        case .peers(let summaries): for summary in summaries { learn(summary.id, summary.address) }
        case .ended:
            for key in links.keys where key.role == message.role { kinds += close(key, .local) }
        }
        return kinds.map { TapEvent(time: message.time, kind: $0) }
    }

    // MARK: Peers

    private mutating func learn(_ peer: PeerID, _ address: String?) {
        if let address = address.flatMap({ DeviceAddress($0) }) { peers.insert(address, for: peer) }
    }

    /// Returns the address of a peer; if the backend gives none, one derived from the peer's identifier.
    private func address(of peer: PeerID) -> DeviceAddress {
        peers[peer] ?? PeripheralDescription(name: peer.description).effectiveAddress
    }

    private mutating func nextNumber() -> UInt32 {
        lastNumber &+= 1
        return lastNumber
    }

    // MARK: Commands

    private mutating func kinds(_ command: CentralCommand, _ message: ObservedMessage) -> [TapEvent.Kind] {
        switch command {
        case .request(let link, let operation, let request):
            return send(request, operation, on: LinkKey(role: message.role, link: link), at: message.time)
        case .writeCommand(let link, let attribute, let value):
            let link = links[LinkKey(role: message.role, link: link)]
            guard let link, let handle = link.handle(attribute) else { return [] }
            return [.att(link: link.number, .command(handle: handle, value))]
        case .channel(let channel, .send(let data)):
            return channels[ChannelKey(role: message.role, channel: channel)].map {
                [.channelData($0, from: .central, data)]
            } ?? []
        case .channel(let channel, .close):
            return channels.removeValue(forKey: ChannelKey(role: message.role, channel: channel)).map {
                [.channelClosed($0, by: .central)]
            } ?? []
        default: return []
        }
    }

    private mutating func send(
        _ request: LinkRequest, _ operation: OperationID, on key: LinkKey, at time: Duration
    ) -> [TapEvent.Kind] {
        guard let count = links[key]?.requests.count, count < Self.maximumRequests else { return [] }
        let pending = SessionLink.Request(operation: operation, request: request, sentAt: time)
        links[key]?.requests.append(pending)
        return count == 0 ? links[key]?.start(pending, at: time) ?? [] : []
    }

    // MARK: Events

    private mutating func kinds(_ event: CentralEvent, _ message: ObservedMessage) -> [TapEvent.Kind] {
        switch event {
        case .discovered(let discovery):
            learn(discovery.peer, discovery.address)
            return [.advertising(packet(discovery))]
        case .connected(let peer, let link, _, let parameters):
            return open(LinkKey(role: message.role, link: link), to: peer, mtu: parameters.mtu)
        case .connectFailed(let peer, _, let error):
            return [.connectionFailed(host: Self.host, peer: peer, error.code)]
        case .restored(let state): return restore(state, message)
        case .channel(let channel, let event):
            return kinds(event, ChannelKey(role: message.role, channel: channel))
        default: return event.link.map { kinds(event, on: LinkKey(role: message.role, link: $0), message) } ?? []
        }
    }

    private mutating func kinds(
        _ event: CentralEvent, on key: LinkKey, _ message: ObservedMessage
    ) -> [TapEvent.Kind] {
        guard let link = links[key] else { return [] }
        switch event {
        case .disconnected(_, let reason, _, _, _): return close(key, reason)
        case .mtuChanged(_, let mtu): return links[key]?.change(mtu: mtu) ?? []
        case .valueNotified(_, let attribute, let value):
            guard let handle = link.handle(attribute) else { return [] }
            return [
                .att(
                    link: link.number,
                    link.indicates(attribute)
                        ? .indication(handle: handle, value) : .notification(handle: handle, value))
            ]
        case .response(_, let operation, .channel(let channel, let credits)):
            guard case .openChannel(let psm)? = links[key]?.end(operation)?.request else { return [] }
            let number = ChannelID(rawValue: UInt64(nextNumber()))
            channels[ChannelKey(role: key.role, channel: channel)] = number
            return [.channelOpened(link: link.number, number, psm: psm, credits: credits)]
        case .response(_, let operation, let response):
            return links[key]?.complete(operation, response, at: message.time) ?? []
        default: return []
        }
    }

    private mutating func kinds(_ event: ChannelEvent, _ key: ChannelKey) -> [TapEvent.Kind] {
        guard let channel = channels[key] else { return [] }
        switch event {
        case .received(let data): return [.channelData(channel, from: .peripheral, data)]
        case .credits: return []
        case .closed:
            channels[key] = nil
            return [.channelClosed(channel, by: .peripheral)]
        }
    }

    private func packet(_ discovery: Discovery) -> TappedAdvertisingPacket {
        let data = AdvertisingData(discovery.advertisement)
        let reception = TappedAdvertisingPacket.Reception(host: Self.host, peer: discovery.peer, isScanning: true)
        return TappedAdvertisingPacket(
            device: UInt32(truncatingIfNeeded: address(of: discovery.peer).bits), set: 0,
            address: address(of: discovery.peer), isScanResponse: false, data: data,
            isConnectable: discovery.advertisement.isConnectable ?? true, isExtended: data.encodedLength > 28,
            rssi: discovery.rssi, receptions: [reception], missedBy: [])
    }

    // MARK: Links

    private mutating func open(_ key: LinkKey, to peer: PeerID, mtu: Int) -> [TapEvent.Kind] {
        let number = nextNumber()
        links[key] = SessionLink(number: number)
        let address = address(of: peer)
        let central = TappedConnection.End(host: Self.host, peer: nil, address: .unknown, identityAddress: nil)
        let peripheral = TappedConnection.End(host: nil, peer: peer, address: address, identityAddress: nil)
        let parameters = ConnectionParameters(
            interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .seconds(4))
        return [
            .connectionOpened(
                TappedConnection(
                    link: number, central: central, peripheral: peripheral, device: number, parameters: parameters,
                    mtu: mtu, phy: .le1M, dataLength: 251, security: .plain, sharedLink: nil, knowsServices: false))
        ]
    }

    private mutating func close(_ key: LinkKey, _ reason: DisconnectReason) -> [TapEvent.Kind] {
        guard let link = links.removeValue(forKey: key) else { return [] }
        return [
            .connectionClosed(link: link.number, side: .central, reason),
            .connectionClosed(link: link.number, side: .peripheral, reason),
        ]
    }

    /// Returns the links and attributes that a restored manager has from the start.
    private mutating func restore(_ state: RestoredCentralState, _ message: ObservedMessage) -> [TapEvent.Kind] {
        var kinds: [TapEvent.Kind] = []
        for peer in state.peers {
            learn(peer.summary.id, peer.summary.address)
            guard let link = peer.link else { continue }
            let key = LinkKey(role: message.role, link: link)
            kinds += open(key, to: peer.summary.id, mtu: peer.parameters?.mtu ?? ATTLimits.minimumMTU)
            kinds += links[key]?.know(peer.services, at: message.time) ?? []
        }
        return kinds
    }
}

extension DeviceAddress {
    /// The address of the machine, which backends do not report.
    fileprivate static let unknown = DeviceAddress(bits: 0)
}

extension TappedHost {
    /// Creates the host for the machine behind a backend.
    fileprivate static func machine(_ backend: String) -> TappedHost {
        TappedHost(
            index: SessionTap.host, name: backend, isAnonymous: false, identityAddress: .unknown, address: .unknown,
            state: .poweredOn, isPowered: true, isPlugged: true, isResetting: false, authorization: .allowed)
    }
}
