import BluetoothHCI

@testable import EmulatedHCI

/// The L2CAP channels of one link of a ``TestHost``, and what came over each; each input returns the packets to send.
struct TestChannels {
    struct Packet {
        let channel: UInt16
        let payload: [UInt8]
    }

    /// An L2CAP channel as the host has it.
    struct Stream: Sendable {
        let psm: UInt16
        /// The answer to the request; nil before it.
        var result: ChannelResult?
        var received: [UInt8] = []
        var consumed = 0
        /// The number of bytes that have left.
        var sent = 0
        var isClosed = false
    }

    struct Behavior: Sendable {
        /// The parameters of the channels of later links.
        var parameters = CreditBasedChannel.Parameters(mtu: 64, mps: 32, credits: 4)
        /// The answers to requests, by PSM.
        var answers: [UInt16: ChannelResult] = [:]
        /// Whether requests wait for ``TestChannels/answer(_:)``.
        var holdsAnswers = false
        /// Whether received bytes are consumed at once.
        var consumes = true
    }

    private(set) var streams: [Int: Stream] = [:]
    var behavior: Behavior
    private var state: L2CAPChannels

    init(isCentral: Bool, _ behavior: Behavior) {
        self.behavior = behavior
        state = L2CAPChannels(isCentral: isCentral, own: behavior.parameters)
    }

    mutating func receive(_ payload: [UInt8], on channel: UInt16) -> [Packet] {
        perform(state.receive(payload, on: channel))
    }

    /// Requests a channel; nil if none is free.
    mutating func open(_ psm: UInt16) -> (number: Int, packets: [Packet])? {
        guard let (number, actions) = state.open(psm) else { return nil }
        streams[number] = Stream(psm: psm)
        return (number, perform(actions))
    }

    /// Answers the requests that wait.
    mutating func answer(_ result: ChannelResult) -> [Packet] {
        streams.keys.sorted().flatMap { perform(state.answer($0, result)) }
    }

    mutating func send(_ bytes: [UInt8], on number: Int) -> [Packet] { perform(state.send(bytes, on: number)) }

    /// Consumes what has been received.
    mutating func consume() -> [Packet] { streams.keys.sorted().flatMap { consume($0) } }

    mutating func close(_ number: Int) -> [Packet] { perform(state.close(number, isAtOnce: false)) }

    private mutating func consume(_ number: Int) -> [Packet] {
        guard let stream = streams[number] else { return [] }
        streams[number]?.consumed = stream.received.count
        return perform(state.consume(stream.received.count - stream.consumed, on: number))
    }

    private mutating func perform(_ actions: [L2CAPChannels.Action]) -> [Packet] {
        var packets: [Packet] = []
        for action in actions {
            switch action {
            case .send(let channel, let payload): packets.append(Packet(channel: channel, payload: payload))
            case .update: break
            case .requested(let number, let psm):
                streams[number] = Stream(psm: psm)
                guard !behavior.holdsAnswers else { break }
                let result = behavior.answers[psm] ?? .unsupportedPSM
                streams[number]?.result = result
                packets += perform(state.answer(number, result))
            case .opened(let number): streams[number]?.result = .success
            case .refused(let number, let result): streams[number]?.result = result
            case .received(let number, let bytes):
                streams[number]?.received += bytes
                if behavior.consumes { packets += consume(number) }
            case .sent(let number, let count): streams[number]?.sent += count
            case .closed(let number): streams[number]?.isClosed = true
            }
        }
        return packets
    }
}
