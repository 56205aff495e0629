import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// The world's part of the channels of a link.
protocol ChannelWorld: AnyObject {
    /// Asks for a channel that the host requests; ``LinkChannels/accept(_:as:credits:)`` or ``LinkChannels/refuse(_:_:)``
    /// follows.
    func request(_ number: Int, psm: UInt16)
    func submit(_ command: ChannelCommand, on channel: ChannelID)
    func update(_ parameters: HCIConnectionParameters)
}

/// The signaling channel of a link of a host outside of the emulator, and the L2CAP channels between the host and the world.
///
/// Used on the queue of the link layer only.
final class LinkChannels {
    /// A channel as the world has it: a stream for which the receiver gives credits in bytes.
    private struct Stream {
        let id: ChannelID
        /// The number of bytes that the world accepts.
        var credits: Int
        /// The bytes of the host that wait for credits, no more than the host has credits for.
        var waiting: [UInt8] = []
        var isClosedByHost = false
    }

    /// The time for which a request waits for its answer: the specification requires 1...60 s (Vol 3, Part A, 6.2.1).
    private static let responseTimeout = Duration.seconds(20)
    /// The time for which the bytes of a channel that the world has closed wait for the host's credits.
    private static let lingerTime = Duration.seconds(5)

    private let handle: UInt16
    private unowned let layer: EmulatedLinkLayer
    private weak var world: (any ChannelWorld)?
    private var channels: L2CAPChannels
    /// The channels that the world has, or is asked for, by their numbers.
    private var streams: [Int: Stream] = [:]
    /// The requests of the world that the host has not answered.
    private var answers: [Int: (ChannelResult) -> Void] = [:]
    private var timers: [Int: any BackendTimer] = [:]

    /// - Parameter isCentral: Whether the emulated end is the central.
    init(_ handle: UInt16, isCentral: Bool, in layer: EmulatedLinkLayer) {
        (self.handle, self.layer) = (handle, layer)
        channels = L2CAPChannels(isCentral: isCentral)
    }

    func begin(_ world: any ChannelWorld) { self.world = world }

    func end() {
        for timer in timers.values { timer.cancel() }
        (timers, streams) = ([:], [:])
        for answer in exchange(&answers, with: [:]).values { answer(.noResources) }
    }

    private func number(of id: ChannelID) -> Int? { streams.first { $0.value.id == id }?.key }

    func contains(_ id: ChannelID) -> Bool { number(of: id) != nil }

    private func startTimer(_ number: Int, _ duration: Duration, _ body: @escaping @Sendable (LinkChannels) -> Void) {
        timers[number]?.cancel()
        // Used on the queue of the link layer only, as is the timer.
        nonisolated(unsafe) weak let channels = self
        timers[number] = layer.after(duration) { if let channels { body(channels) } }
    }

    // MARK: The host

    /// Handles a packet of the host on the signaling channel or on an L2CAP channel.
    func receive(_ payload: [UInt8], on channel: UInt16) { perform(channels.receive(payload, on: channel)) }

    private func perform(_ actions: [L2CAPChannels.Action]) {
        for action in actions {
            switch action {
            case .send(let channel, let payload):
                layer.emit(.received(handle: handle, channel: channel, payload))
            case .update(let parameters): world?.update(parameters)
            case .requested(let number, let psm): world?.request(number, psm: psm)
            case .opened(let number): answered(number, .success)
            case .refused(let number, let result):
                streams[number] = nil
                answered(number, result)
            case .received(let number, let bytes):
                streams[number]?.waiting += bytes
                pass(number)
            case .sent(let number, let count):
                if let id = streams[number]?.id { world?.submit(.consumed(count), on: id) }
            case .closed(let number):
                streams[number]?.isClosedByHost = true
                pass(number)
            }
        }
    }

    private func answered(_ number: Int, _ result: ChannelResult) {
        timers.removeValue(forKey: number)?.cancel()
        answers.removeValue(forKey: number)?(result)
    }

    /// Passes bytes of the host on to the world, and then the end of the channel.
    private func pass(_ number: Int) {
        guard let stream = streams[number] else { return }
        let count = min(stream.credits, stream.waiting.count)
        if count > 0 {
            streams[number]?.credits -= count
            streams[number]?.waiting.removeFirst(count)
            world?.submit(.send(Data(stream.waiting.prefix(count))), on: stream.id)
            perform(channels.consume(count, on: number))
        }
        guard streams[number]?.isClosedByHost == true, streams[number]?.waiting.isEmpty == true else { return }
        streams[number] = nil
        world?.submit(.close, on: stream.id)
    }

    // MARK: The world

    /// Requests a channel of the host.
    ///
    /// - Parameter answer: Receives the host's answer; after a success, ``opened(_:credits:)`` or the event `closed` follows.
    func open(_ psm: UInt16, as id: ChannelID, _ answer: @escaping (ChannelResult) -> Void) {
        guard let (number, actions) = channels.open(psm) else { return answer(.noResources) }
        streams[number] = Stream(id: id, credits: 0)
        answers[number] = answer
        startTimer(number, Self.responseTimeout) { $0.perform($0.channels.expire(number)) }
        perform(actions)
    }

    /// Handles the opening of a channel that the host has accepted.
    func opened(_ id: ChannelID, credits: Int) { handle(.credits(credits), on: id) }

    /// Opens a channel that the host has requested.
    func accept(_ number: Int, as id: ChannelID, credits: Int) {
        streams[number] = Stream(id: id, credits: credits)
        perform(channels.answer(number, .success))
    }

    func refuse(_ number: Int, _ result: ChannelResult) { perform(channels.answer(number, result)) }

    func handle(_ event: ChannelEvent, on id: ChannelID) {
        guard let number = number(of: id) else { return }
        switch event {
        case .received(let data): perform(channels.send(Array(data), on: number))
        case .credits(let count):
            streams[number]?.credits += count
            pass(number)
        case .closed:
            streams[number] = nil
            startTimer(number, Self.lingerTime) {
                $0.timers[number] = nil
                $0.perform($0.channels.close(number, isAtOnce: true))
            }
            perform(channels.close(number, isAtOnce: false))
        }
    }
}

extension ChannelResult {
    /// The answer to a host whose request the world refuses.
    init(_ error: BackendError) {
        switch error.code {
        case .att where error.attCode == ATTCode.insufficientAuthentication.rawValue: self = .insufficientAuthentication
        case .att where error.attCode == ATTCode.insufficientEncryption.rawValue: self = .insufficientEncryption
        case .operationNotSupported: self = .unsupportedPSM
        default: self = .noResources
        }
    }

    /// The refusal for the app whose request the host refuses.
    var refusal: ChannelRefusal {
        switch self {
        case .unsupportedPSM: .noService
        case .insufficientAuthentication, .insufficientAuthorization: .insufficientAuthentication
        case .insufficientEncryption, .insufficientKeySize: .insufficientEncryption
        default: .noResources
        }
    }
}
