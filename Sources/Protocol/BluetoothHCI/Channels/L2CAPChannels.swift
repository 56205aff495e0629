/// One end of the signaling channel of a link, and its channels with LE credit-based flow control.
///
/// A state machine: each input returns actions, to be performed in order. A channel has a number, which is never reused;
/// inputs for a channel that has ended do nothing.
///
/// Source: Core Specification, Vol 3, Part A, 4 and 10.1.
package struct L2CAPChannels: Sendable {
    package enum Action: Hashable, Sendable {
        /// Sends a packet on the signaling channel or on another one.
        case send(channel: UInt16, [UInt8])
        /// The peer, a peripheral, requests parameters, which are granted.
        case update(HCIConnectionParameters)
        /// The peer requests a channel, which ``answer(_:_:)`` opens or refuses.
        case requested(Int, psm: UInt16)
        /// The peer has accepted a channel.
        case opened(Int)
        /// The peer has refused a channel.
        case refused(Int, ChannelResult)
        /// Bytes of the peer have arrived, to be consumed.
        case received(Int, [UInt8])
        /// A number of bytes has left.
        case sent(Int, count: Int)
        /// The peer has closed the channel, or has violated its rules.
        case closed(Int)
    }

    private enum Phase: Sendable {
        /// The peer's request is not answered.
        case requested
        /// The own request is not answered.
        case opening
        case open
        /// The own request to disconnect is not answered.
        case closing
    }

    private struct Channel: Sendable {
        let number: Int
        /// The identifiers at this end and at the peer; the latter is 0 until the peer has accepted the channel.
        let local: UInt16
        var remote: UInt16 = 0
        var phase: Phase
        /// The identifier of the request that is not answered.
        var identifier: UInt8
        /// The bytes, when the parameters of the peer are known.
        var stream: CreditBasedChannel?
        /// Whether the channel closes when its bytes have left.
        var isEnding = false
    }

    /// The identifiers of channels, which are as many as a link has (Core Specification, Vol 3, Part A, 2.1).
    private static let identifiers: ClosedRange<UInt16> = 0x40...0x7F
    private static let psms: ClosedRange<UInt16> = 0x01...0xFF

    /// Whether this end is the central, which grants parameters.
    private let isCentral: Bool
    private let own: CreditBasedChannel.Parameters
    private var channels: [Channel] = []
    private var lastNumber = 0
    private var lastIdentifier: UInt8 = 0

    package init(isCentral: Bool, own: CreditBasedChannel.Parameters = .emulated) {
        (self.isCentral, self.own) = (isCentral, own)
    }

    // MARK: Commands

    /// Requests a channel.
    ///
    /// - Returns: nil if all channels are in use.
    package mutating func open(_ psm: UInt16) -> (number: Int, actions: [Action])? {
        guard let local = freeIdentifier else { return nil }
        let channel = insert(local, .opening, identifier: nextIdentifier())
        let request = SignalingPDU.connectionRequest(
            psm: psm, source: local, mtu: own.mtu, mps: own.mps, credits: own.credits)
        return (channel.number, [signal(request, channel.identifier)])
    }

    /// Answers the peer's request.
    package mutating func answer(_ number: Int, _ result: ChannelResult) -> [Action] {
        guard let index = index(of: number), channels[index].phase == .requested else { return [] }
        let channel = channels[index]
        guard result == .success else {
            channels.remove(at: index)
            return [refusal(result, channel.identifier)]
        }
        channels[index].phase = .open
        let response = SignalingPDU.connectionResponse(
            destination: channel.local, mtu: own.mtu, mps: own.mps, credits: own.credits, result: .success)
        return [signal(response, channel.identifier)]
    }

    /// Sends bytes on an open channel, as far as the peer has given credits; the others wait.
    package mutating func send(_ bytes: [UInt8], on number: Int) -> [Action] {
        guard let index = index(of: number), channels[index].phase == .open, !channels[index].isEnding else {
            return []
        }
        return perform(channels[index].stream?.send(bytes) ?? [], at: index)
    }

    /// Consumes received bytes, so that the peer may send others.
    package mutating func consume(_ count: Int, on number: Int) -> [Action] {
        guard let index = index(of: number), channels[index].phase == .open else { return [] }
        return perform(channels[index].stream?.consume(count) ?? [], at: index)
    }

    /// Closes a channel: at once, or when its bytes have left.
    package mutating func close(_ number: Int, isAtOnce: Bool) -> [Action] {
        guard let index = index(of: number) else { return [] }
        switch channels[index].phase {
        case .requested: return answer(number, .noResources)
        case .closing: return []
        case .opening:
            channels[index].isEnding = true
            return []
        case .open:
            channels[index].isEnding = true
            return isAtOnce || channels[index].stream?.isIdle != false ? disconnect(index) : []
        }
    }

    /// Gives up a request that the peer does not answer.
    package mutating func expire(_ number: Int) -> [Action] {
        guard let index = index(of: number), channels[index].phase == .opening else { return [] }
        return refuse(index, .noResources)
    }

    // MARK: Packets

    /// Handles a packet of the peer on any channel of the link.
    package mutating func receive(_ payload: [UInt8], on channel: UInt16) -> [Action] {
        guard channel != L2CAPChannel.signaling else { return receive(payload) }
        guard let index = channels.firstIndex(where: { $0.local == channel && $0.phase == .open }) else { return [] }
        do throws(CreditBasedChannel.Violation) {
            return perform(try channels[index].stream?.receive(payload) ?? [], at: index)
        } catch {
            return violated(index)
        }
    }

    private mutating func receive(_ packet: [UInt8]) -> [Action] {
        guard let frame = SignalingPDU.Frame(packet) else { return [] }
        guard packet.count <= SignalingPDU.mtu else {
            return [signal(.rejection(.tooLong(mtu: UInt16(SignalingPDU.mtu))), frame.identifier)]
        }
        switch SignalingPDU(frame) {
        case .rejection?: return rejected(frame.identifier)
        case .disconnectionRequest(let destination, let source)?:
            return disconnected(destination, source, frame.identifier)
        case .disconnectionResponse(let destination, let source)?:
            channels.removeAll {
                $0.phase == .closing && $0.identifier == frame.identifier && $0.local == source
                    && $0.remote == destination
            }
            return []
        case .parametersRequest(let minimum, let maximum, let latency, let timeout)? where isCentral:
            return parameters(minimum, maximum, latency, timeout, frame.identifier)
        case .connectionRequest(let psm, let source, let mtu, let mps, let credits)?:
            let peer = CreditBasedChannel.Parameters(mtu: mtu, mps: mps, credits: credits)
            return requested(psm, source, peer, frame.identifier)
        case .connectionResponse(let destination, let mtu, let mps, let credits, let result)?:
            let peer = CreditBasedChannel.Parameters(mtu: mtu, mps: mps, credits: credits)
            return answered(result, destination, peer, frame.identifier)
        case .credits(let source, let count)?: return granted(count, source)
        case .parametersRequest?, .parametersResponse?, nil:
            // Responses get no rejection.
            let isResponse = [0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x13, 0x15, 0x16, 0x18, 0x1A].contains(frame.code)
            return isResponse ? [] : [signal(.rejection(.notUnderstood), frame.identifier)]
        }
    }

    /// Handles a request for a channel.
    ///
    /// Source: Core Specification, Vol 3, Part A, 4.22.
    private mutating func requested(
        _ psm: UInt16, _ source: UInt16, _ peer: CreditBasedChannel.Parameters, _ identifier: UInt8
    ) -> [Action] {
        let isRepeated = channels.contains {
            $0.phase == .requested && $0.identifier == identifier && $0.remote == source
        }
        guard !isRepeated else { return [] }
        guard Self.psms.contains(psm) else { return [refusal(.unsupportedPSM, identifier)] }
        guard Self.identifiers.contains(source) else { return [refusal(.invalidSource, identifier)] }
        guard !channels.contains(where: { $0.remote == source }) else { return [refusal(.sourceInUse, identifier)] }
        guard peer.isValid else { return [refusal(.unacceptableParameters, identifier)] }
        guard let local = freeIdentifier else { return [refusal(.noResources, identifier)] }
        let channel = insert(
            local, .requested, identifier: identifier, remote: source, CreditBasedChannel(own: own, peer: peer))
        return [.requested(channel.number, psm: psm)]
    }

    /// Handles the answer to a request; a channel with an identifier in use, or with invalid parameters, is refused.
    private mutating func answered(
        _ result: ChannelResult, _ destination: UInt16, _ peer: CreditBasedChannel.Parameters, _ identifier: UInt8
    ) -> [Action] {
        guard let index = channels.firstIndex(where: { $0.phase == .opening && $0.identifier == identifier }) else {
            return []
        }
        guard result == .success else { return refuse(index, result) }
        guard Self.identifiers.contains(destination), !channels.contains(where: { $0.remote == destination }) else {
            return refuse(index, .invalidSource)
        }
        channels[index].remote = destination
        guard peer.isValid else {
            return [.refused(channels[index].number, .unacceptableParameters)] + disconnect(index)
        }
        channels[index].stream = CreditBasedChannel(own: own, peer: peer)
        guard !channels[index].isEnding else { return disconnect(index) }
        channels[index].phase = .open
        return [.opened(channels[index].number)]
    }

    private mutating func granted(_ count: UInt16, _ source: UInt16) -> [Action] {
        guard let index = channels.firstIndex(where: { $0.remote == source && $0.phase == .open }) else { return [] }
        do throws(CreditBasedChannel.Violation) {
            return perform(try channels[index].stream?.addCredits(count) ?? [], at: index)
        } catch {
            return violated(index)
        }
    }

    private mutating func rejected(_ identifier: UInt8) -> [Action] {
        guard let index = channels.firstIndex(where: { $0.identifier == identifier }) else { return [] }
        switch channels[index].phase {
        case .opening: return refuse(index, .unsupportedPSM)
        case .closing: channels.remove(at: index)
        case .requested, .open: break
        }
        return []
    }

    /// Handles the peer's request to disconnect; without its channel at the peer, it is ignored.
    ///
    /// Source: Core Specification, Vol 3, Part A, 4.6.
    private mutating func disconnected(
        _ destination: UInt16, _ source: UInt16, _ identifier: UInt8
    ) -> [Action] {
        let found = channels.firstIndex { $0.local == destination && ($0.phase == .open || $0.phase == .closing) }
        guard let index = found else {
            return [signal(.rejection(.invalidChannel(local: destination, remote: source)), identifier)]
        }
        guard channels[index].remote == source else { return [] }
        let channel = channels.remove(at: index)
        let response = signal(.disconnectionResponse(destination: destination, source: source), identifier)
        return channel.phase == .open && !channel.isEnding ? [response, .closed(channel.number)] : [response]
    }

    private func parameters(
        _ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16, _ identifier: UInt8
    ) -> [Action] {
        let isValid =
            (6...3200).contains(minimum) && (minimum...3200).contains(maximum) && latency < 500
            && (10...3200).contains(timeout)
        let response = signal(.parametersResponse(isAccepted: isValid), identifier)
        guard isValid else { return [response] }
        let parameters = HCIConnectionParameters(
            interval: .microseconds(1_250) * Int(maximum), latency: Int(latency),
            supervisionTimeout: .milliseconds(10) * Int(timeout))
        return [response, .update(parameters)]
    }

    // MARK: Channels

    private func index(of number: Int) -> Int? { channels.firstIndex { $0.number == number } }

    private var freeIdentifier: UInt16? {
        Self.identifiers.first { identifier in !channels.contains { $0.local == identifier } }
    }

    private mutating func nextIdentifier() -> UInt8 {
        lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
        return lastIdentifier
    }

    private mutating func insert(
        _ local: UInt16, _ phase: Phase, identifier: UInt8, remote: UInt16 = 0, _ stream: CreditBasedChannel? = nil
    ) -> Channel {
        lastNumber += 1
        let channel = Channel(
            number: lastNumber, local: local, remote: remote, phase: phase, identifier: identifier, stream: stream)
        channels.append(channel)
        return channel
    }

    private func signal(_ packet: SignalingPDU, _ identifier: UInt8) -> Action {
        .send(channel: L2CAPChannel.signaling, packet.bytes(identifier: identifier))
    }

    private func refusal(_ result: ChannelResult, _ identifier: UInt8) -> Action {
        signal(.connectionResponse(destination: 0, mtu: 0, mps: 0, credits: 0, result: result), identifier)
    }

    private mutating func refuse(_ index: Int, _ result: ChannelResult) -> [Action] {
        let channel = channels.remove(at: index)
        return channel.isEnding ? [] : [.refused(channel.number, result)]
    }

    private mutating func disconnect(_ index: Int) -> [Action] {
        let identifier = nextIdentifier()
        (channels[index].phase, channels[index].identifier) = (.closing, identifier)
        let (destination, source) = (channels[index].remote, channels[index].local)
        channels[index].stream = nil
        return [signal(.disconnectionRequest(destination: destination, source: source), identifier)]
    }

    private mutating func violated(_ index: Int) -> [Action] {
        let channel = channels[index]
        return disconnect(index) + (channel.isEnding ? [] : [.closed(channel.number)])
    }

    private mutating func perform(_ actions: [CreditBasedChannel.Action], at index: Int) -> [Action] {
        let channel = channels[index]
        var performed: [Action] = []
        for action in actions {
            switch action {
            case .send(let packet): performed.append(.send(channel: channel.remote, packet))
            case .grant(let count):
                performed.append(signal(.credits(source: channel.local, count), nextIdentifier()))
            // An end that has closed the channel receives nothing more.
            case .received(let bytes): if !channel.isEnding { performed.append(.received(channel.number, bytes)) }
            case .sent(let count): performed.append(.sent(channel.number, count: count))
            }
        }
        if channel.isEnding, channel.stream?.isIdle == true { performed += disconnect(index) }
        return performed
    }
}
