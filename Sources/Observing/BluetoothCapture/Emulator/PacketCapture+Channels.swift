import BluetoothBackend
package import BluetoothEmulator
package import BluetoothHCI

/// An L2CAP channel in a capture.
struct CapturedChannel {
    let link: UInt32
    /// The channel's identifier, which is equal on both sides.
    let identifier: UInt16
}

// L2CAP channels with LE credit-based flow control.
extension PacketCapture {
    /// The limits of both ends.
    private static let limits = CreditBasedChannel.Parameters.emulated

    mutating func handleChannel(_ event: TapEvent.Kind, at now: Duration) {
        switch event {
        case .channelOpened(let link, let channel, let psm, let credits):
            open(channel, psm, credits: credits, on: link, at: now)
        case .channelRefused(let link, let psm, let refusal):
            request(psm, credits: 1, source: 0x40, on: link, result: refusal.result, at: now)
        case .channelData(let channel, let side, let data): send(Array(data), on: channel, from: side, at: now)
        case .channelCredits(let channel, let side, let count):
            guard let found = channels[channel], let identifier = links[found.link]?.nextSignalingIdentifier()
            else { return }
            let credits = UInt16(clamping: max(1, count / Int(Self.limits.mps)))
            send(
                .credits(source: found.identifier, credits), identifier, of: found.link, from: side.other, at: now)
        case .channelClosed(let channel, let side): close(channel, by: side, at: now)
        default: break
        }
    }

    private mutating func send(
        _ packet: SignalingPDU, _ identifier: UInt8, of link: UInt32, from side: LinkSide, at time: Duration
    ) {
        send(packet.bytes(identifier: identifier), on: L2CAPChannel.signaling, of: link, from: side, at: time)
    }

    private mutating func open(
        _ channel: ChannelID, _ psm: UInt16, credits: Int, on link: UInt32, at now: Duration
    ) {
        guard let identifier = links[link]?.nextChannel else { return }
        links[link]?.nextChannel = identifier == 0x7F ? 0x40 : identifier + 1
        channels[channel] = CapturedChannel(link: link, identifier: identifier)
        request(
            psm, credits: UInt16(clamping: max(1, credits / Int(Self.limits.mps))), source: identifier, on: link,
            result: .success, at: now)
    }

    private mutating func request(
        _ psm: UInt16, credits: UInt16, source: UInt16, on link: UInt32, result: ChannelResult, at now: Duration
    ) {
        guard let identifier = links[link]?.nextSignalingIdentifier() else { return }
        let (mtu, mps) = (Self.limits.mtu, Self.limits.mps)
        send(
            .connectionRequest(psm: psm, source: source, mtu: mtu, mps: mps, credits: credits), identifier, of: link,
            from: .central, at: now)
        send(
            result == .success
                ? .connectionResponse(destination: source, mtu: mtu, mps: mps, credits: credits, result: .success)
                : .connectionResponse(destination: 0, mtu: 0, mps: 0, credits: 0, result: result),
            identifier, of: link, from: .peripheral, at: now)
    }

    /// Sends bytes as service data units, each split into packets of which the first contains the length.
    private mutating func send(_ bytes: [UInt8], on channel: ChannelID, from side: LinkSide, at now: Duration) {
        guard let found = channels[channel] else { return }
        let packets = CreditBasedChannel.packets(bytes, mtu: Int(Self.limits.mtu), mps: Int(Self.limits.mps))
        for packet in packets { send(packet.bytes, on: found.identifier, of: found.link, from: side, at: now) }
    }

    private mutating func close(_ channel: ChannelID, by side: LinkSide, at now: Duration) {
        guard let found = channels.removeValue(forKey: channel),
            let identifier = links[found.link]?.nextSignalingIdentifier()
        else { return }
        let own = found.identifier
        send(.disconnectionRequest(destination: own, source: own), identifier, of: found.link, from: side, at: now)
        send(
            .disconnectionResponse(destination: own, source: own), identifier, of: found.link, from: side.other, at: now
        )
    }
}

extension ChannelRefusal {
    /// The result that the peer of a refused channel receives.
    package var result: ChannelResult {
        switch self {
        case .noService: .unsupportedPSM
        case .noResources: .noResources
        case .insufficientAuthentication: .insufficientAuthentication
        case .insufficientEncryption: .insufficientEncryption
        }
    }
}
