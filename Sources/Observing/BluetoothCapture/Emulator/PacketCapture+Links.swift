import BluetoothBackend
package import BluetoothEmulator
package import BluetoothHCI

/// A link in a capture.
struct CapturedLink {
    let connection: TappedConnection
    var mtu: Int
    /// The sides whose ends of the link are open.
    var openSides: Set<LinkSide> = [.central, .peripheral]
    /// The handles whose UUIDs the capture has already defined by discoveries.
    var knownHandles: Set<UInt16> = []
    /// The request that waits for its response.
    var request: (request: ATTRequest, sentAt: Duration)?
    /// The identifier of the last request on the signaling channel.
    var signalingIdentifier: UInt8 = 0
    /// The next channel identifier, used by both sides.
    var nextChannel: UInt16 = 0x40
    /// Whether the packets of a pairing are shown; those of hosts outside of the emulator are not known.
    var isPairing = false
    /// Whether a pairing has succeeded, so its keys are sent when the link is encrypted.
    var hasKeysToSend = false

    func end(_ side: LinkSide) -> TappedConnection.End {
        side == .central ? connection.central : connection.peripheral
    }

    mutating func nextSignalingIdentifier() -> UInt8 {
        signalingIdentifier = signalingIdentifier == .max ? 1 : signalingIdentifier + 1
        return signalingIdentifier
    }
}

extension TappedConnection {
    /// The number of the physical link.
    var physicalLink: UInt32 { sharedLink ?? link }
}

extension PacketCapture {
    /// The comment of packets that were sent before the capture began, or that the emulator does not send.
    static let notOnAir = "not on the air"

    mutating func handleLink(_ event: TapEvent.Kind, at now: Duration) {
        switch event {
        case .connectionOpened(let connection): open(connection, at: now)
        case .connectionFailed(let host, _, let code):
            appendNote("host \(hosts[host]?.name ?? "\(host)"): a connect failed: \(code)", at: now)
        case .connectionClosed(let link, let side, let reason): close(link, side, reason, at: now)
        case .parametersChanged(let link, let parameters):
            guard let found = links[link], isFirst(found) else { return }
            for side in [LinkSide.central, .peripheral] {
                guard let (host, handle) = host(of: found, side) else { continue }
                append(.connectionUpdated(handle, HCIConnectionParameters(parameters)), of: host, at: now)
            }
        case .packetsLost(let link, let count):
            guard let connection = links[link]?.connection else { return }
            appendNote(
                "\(count) packets of the link to \(name(ofDevice: connection.device)) were lost, and sent again",
                at: now)
        default: break
        }
    }

    /// Whether a link is the only one on its physical link, or the earlier one of two.
    func isFirst(_ link: CapturedLink) -> Bool {
        link.connection.sharedLink.map { links[$0] == nil } ?? true
    }

    /// Returns the host at a side of a link and its connection handle; nil if the side has no host, or its end has
    /// ended.
    func host(of link: CapturedLink, _ side: LinkSide) -> (host: Int, handle: UInt16)? {
        guard link.openSides.contains(side), let host = link.end(side).host,
            let handle = handles[host, link.connection.physicalLink]
        else { return nil }
        return (host, handle)
    }

    /// Appends a packet of a link, from the point of view of the host at each side.
    ///
    /// - Parameter channel: The channel identifier at the receiver.
    mutating func send(
        _ payload: [UInt8], on channel: UInt16, of link: UInt32, from side: LinkSide, at time: Duration,
        comment: String? = nil
    ) {
        guard let found = links[link] else { return }
        for end in [side, side.other] {
            guard let (host, handle) = host(of: found, end) else { continue }
            append(
                HCIPacket(connection: handle, channel: channel, payload: payload, isReceived: end != side), of: host,
                at: time, comment: comment)
        }
    }

    // MARK: Connections

    private mutating func open(_ connection: TappedConnection, at now: Duration) {
        links[connection.link] = CapturedLink(connection: connection, mtu: connection.mtu)
        let comment = hasBegun ? nil : "opened before the capture began"
        for (own, other, isCentral) in [
            (connection.central, connection.peripheral, true), (connection.peripheral, connection.central, false),
        ] {
            guard let host = own.host, let handle = handles.open(connection.physicalLink, of: host) else { continue }
            let isPrivate = other.identityAddress.map { $0 != other.address } ?? false
            let identity = hosts[host]?.identityAddress
            append(
                .connectionComplete(
                    HCIConnection(
                        handle: handle, isCentral: isCentral,
                        peer: HCIAddress(other.identityAddress ?? other.address),
                        privateAddress: isPrivate ? HCIAddress(other.address) : nil,
                        localPrivateAddress: own.address == identity ? nil : HCIAddress(own.address),
                        parameters: HCIConnectionParameters(connection.parameters))),
                of: host, at: now, comment: comment)
        }
        if connection.mtu > ATTLimits.minimumMTU, connection.sharedLink == nil {
            sendMTUExchange(of: connection.link, mtu: connection.mtu, at: now, comment: comment)
        }
        if connection.knowsServices || !hasBegun { discoverAll(on: connection.link, at: now) }
    }

    private mutating func close(_ link: UInt32, _ side: LinkSide, _ reason: DisconnectReason, at now: Duration) {
        guard let found = links[link], found.openSides.contains(side) else { return }
        if side == .central { dropRequest(of: link) }
        if let host = found.end(side).host, let handle = handles.close(found.connection.physicalLink, of: host) {
            append(.disconnectionComplete(handle, reason: reason.hciCode), of: host, at: now)
        }
        links[link]?.openSides.remove(side)
        guard links[link]?.openSides.isEmpty == true else { return }
        links[link] = nil
        channels = channels.filter { $0.value.link != link }
    }
}

extension HCIConnectionParameters {
    package init(_ parameters: ConnectionParameters) {
        self.init(
            interval: parameters.interval, latency: parameters.peripheralLatency,
            supervisionTimeout: parameters.supervisionTimeout)
    }
}

extension DisconnectReason {
    /// Source: Core Specification, Vol 1, Part F, 1.3.
    fileprivate var hciCode: UInt8 {
        switch self {
        case .local: 0x16
        case .remote: 0x13
        case .timeout: 0x08
        case .authentication: 0x05
        case .unknown: 0x1F
        }
    }
}
