import BluetoothHCI
import BluetoothSupport
import Testing

/// Core Specification, Vol 3, Part A, 4.
struct L2CAPChannelsTests {
    private typealias Action = L2CAPChannels.Action

    private static let peer = CreditBasedChannel.Parameters(mtu: 100, mps: 50, credits: 4)

    private func signal(_ packet: SignalingPDU, _ identifier: UInt8 = 7) -> Action {
        .send(channel: 5, packet.bytes(identifier: identifier))
    }

    private func request(
        _ psm: UInt16 = 0x80, source: UInt16 = 0x50, mtu: UInt16 = 100, mps: UInt16 = 50, credits: UInt16 = 4
    ) -> SignalingPDU { .connectionRequest(psm: psm, source: source, mtu: mtu, mps: mps, credits: credits) }

    private func response(
        _ destination: UInt16 = 0x50, mtu: UInt16 = 100, mps: UInt16 = 50, credits: UInt16 = 4,
        _ result: ChannelResult = .success
    ) -> SignalingPDU {
        .connectionResponse(destination: destination, mtu: mtu, mps: mps, credits: credits, result: result)
    }

    private func refusal(_ result: ChannelResult, _ identifier: UInt8 = 7) -> Action {
        signal(.connectionResponse(destination: 0, mtu: 0, mps: 0, credits: 0, result: result), identifier)
    }

    private let accepted = SignalingPDU.connectionResponse(
        destination: 0x40, mtu: 2_048, mps: 247, credits: 16, result: .success)

    private func receive(
        _ packet: SignalingPDU, _ identifier: UInt8 = 7, at channels: inout L2CAPChannels
    ) -> [L2CAPChannels.Action] { channels.receive(packet.bytes(identifier: identifier), on: 5) }

    /// A channel 0x40 that the peer has opened as its 0x50.
    private func opened() throws -> (channels: L2CAPChannels, number: Int) {
        var channels = L2CAPChannels(isCentral: false)
        guard case .requested(let number, psm: 0x80)? = receive(request(), at: &channels).first else {
            throw Unexpected()
        }
        #expect(channels.answer(number, .success) == [signal(accepted)])
        return (channels, number)
    }

    private struct Unexpected: Error {}

    // MARK: The peer's requests

    @Test func aRequestIsAnsweredOnceWithTheOwnParameters() throws {
        var (channels, number) = try opened()
        #expect(channels.answer(number, .success) == [])
        #expect(channels.answer(number, .noResources) == [])
    }

    @Test(
        arguments: [
            .unsupportedPSM, .noResources, .insufficientAuthentication, .insufficientEncryption,
        ] as [ChannelResult])
    func aRefusalHasNoChannel(_ result: ChannelResult) throws {
        var channels = L2CAPChannels(isCentral: false)
        #expect(receive(request(), at: &channels) == [.requested(1, psm: 0x80)])
        #expect(channels.answer(1, result) == [refusal(result)])
        #expect(channels.receive([1, 0, 5], on: 0x40) == [])
        // The identifiers are free again.
        #expect(receive(request(), 8, at: &channels) == [.requested(2, psm: 0x80)])
        #expect(channels.answer(2, .success) == [signal(accepted, 8)])
    }

    @Test func invalidRequestsAreRefused() {
        let cases: [(SignalingPDU, ChannelResult)] = [
            (request(0), .unsupportedPSM), (request(0x100), .unsupportedPSM),
            (request(source: 0x3F), .invalidSource), (request(source: 0x80), .invalidSource),
            (request(mtu: 22), .unacceptableParameters), (request(mps: 22), .unacceptableParameters),
            (request(mps: 65_534), .unacceptableParameters),
        ]
        for (packet, result) in cases {
            var channels = L2CAPChannels(isCentral: false)
            #expect(receive(packet, at: &channels) == [refusal(result)])
        }
    }

    @Test func aSourceIsUsedOnce() throws {
        var (channels, _) = try opened()
        #expect(receive(request(), 8, at: &channels) == [refusal(.sourceInUse, 8)])
        #expect(receive(request(source: 0x51), 9, at: &channels) == [.requested(2, psm: 0x80)])
        // The same request again is being answered.
        #expect(receive(request(source: 0x51), 9, at: &channels) == [])
        #expect(receive(request(source: 0x51), 10, at: &channels) == [refusal(.sourceInUse, 10)])
    }

    @Test func aLinkHas64Channels() {
        var channels = L2CAPChannels(isCentral: false)
        for index in UInt16(0)..<64 {
            let number = Int(index) + 1
            #expect(receive(request(source: 0x40 + index), at: &channels) == [.requested(number, psm: 0x80)])
            _ = channels.answer(number, .success)
        }
        let another = channels.open(0x80)
        #expect(another == nil)
    }

    // MARK: The own requests

    /// A channel 0x40 of the own request.
    private func requested(_ psm: UInt16 = 0x80) throws -> L2CAPChannels {
        var channels = L2CAPChannels(isCentral: true)
        let opened = channels.open(psm)
        let (number, actions) = try #require(opened)
        #expect(number == 1)
        let request = SignalingPDU.connectionRequest(psm: psm, source: 0x40, mtu: 2_048, mps: 247, credits: 16)
        #expect(actions == [signal(request, 1)])
        return channels
    }

    @Test func anAcceptedRequestIsOpen() throws {
        var channels = try requested()
        #expect(receive(response(), 2, at: &channels) == [])
        #expect(receive(response(), 1, at: &channels) == [.opened(1)])
        #expect(receive(response(), 1, at: &channels) == [])
        #expect(channels.send([9], on: 1) == [.send(channel: 0x50, [1, 0, 9]), .sent(1, count: 1)])
        #expect(channels.receive([2, 0, 3, 4], on: 0x40) == [.received(1, [3, 4])])
    }

    @Test func aRefusedRequestIsOver() throws {
        for result: ChannelResult in [.unsupportedPSM, .noResources, .insufficientAuthorization] {
            var channels = try requested()
            #expect(receive(response(0, mtu: 0, mps: 0, credits: 0, result), 1, at: &channels) == [.refused(1, result)])
            #expect(channels.send([1], on: 1) == [])
        }
    }

    @Test func aPeerThatDoesNotKnowChannelsRefuses() throws {
        var channels = try requested()
        #expect(receive(.rejection(.notUnderstood), 1, at: &channels) == [.refused(1, .unsupportedPSM)])
    }

    @Test func anInvalidAnswerIsARefusal() throws {
        for destination: UInt16 in [0, 0x3F, 0x80] {
            var channels = try requested()
            #expect(receive(response(destination), 1, at: &channels) == [.refused(1, .invalidSource)])
        }
        for (mtu, mps) in [(22, 50), (100, 22)] as [(UInt16, UInt16)] {
            var channels = try requested()
            #expect(
                receive(response(mtu: mtu, mps: mps), 1, at: &channels) == [
                    .refused(1, .unacceptableParameters),
                    signal(.disconnectionRequest(destination: 0x50, source: 0x40), 2),
                ])
        }
    }

    @Test func anIdentifierThatThePeerUsesTwiceIsARefusal() throws {
        var channels = try requested()
        #expect(receive(response(), 1, at: &channels) == [.opened(1)])
        _ = channels.open(0x81)
        #expect(receive(response(), 2, at: &channels) == [.refused(2, .invalidSource)])
    }

    @Test func aRequestWithoutAnAnswerExpires() throws {
        var channels = try requested()
        #expect(channels.expire(1) == [.refused(1, .noResources)])
        #expect(channels.expire(1) == [])
        #expect(receive(response(), 1, at: &channels) == [])
    }

    @Test func aRequestThatIsClosedBeforeItsAnswerIsDisconnected() throws {
        var channels = try requested()
        #expect(channels.close(1, isAtOnce: false) == [])
        #expect(
            receive(response(), 1, at: &channels) == [
                signal(.disconnectionRequest(destination: 0x50, source: 0x40), 2)
            ])
    }

    @Test func identifiersOfRequestsAreNeverZero() {
        var channels = L2CAPChannels(isCentral: true)
        var identifiers: [UInt8] = []
        for number in 1...600 {
            guard case .send(_, let packet)? = channels.open(0x80)?.actions.first else { break }
            identifiers.append(packet[1])
            _ = channels.expire(number)
        }
        #expect(identifiers.count == 600)
        #expect(!identifiers.contains(0))
        #expect(identifiers[254] == 255)
        #expect(identifiers[255] == 1)
    }

    // MARK: Bytes

    @Test func creditsOfThePeerLetWaitingBytesLeave() throws {
        var (channels, number) = try opened()
        let actions = channels.send([UInt8](repeating: 1, count: 250), on: number)
        // Two units of 100 in three packets each; four have credits.
        #expect(actions.count == 5)
        #expect(actions.last == .sent(number, count: 148))
        #expect(receive(.credits(source: 0x51, 9), at: &channels) == [])
        #expect(receive(.credits(source: 0x50, 1), at: &channels).last == .sent(number, count: 50))
        #expect(receive(.credits(source: 0x50, 9), at: &channels).last == .sent(number, count: 52))
    }

    @Test func creditsForThePeerAreSignaled() throws {
        var (channels, number) = try opened()
        let unit = [UInt8](repeating: 2, count: 245)
        for _ in 0..<10 { #expect(channels.receive([245, 0] + unit, on: 0x40) == [.received(number, unit)]) }
        #expect(channels.consume(2_450, on: number) == [signal(.credits(source: 0x40, 10), 1)])
    }

    @Test func violationsDisconnect() throws {
        for packet: [UInt8] in [[1], [1, 0, 2, 3], [1, 9], [UInt8](repeating: 0, count: 248)] {
            var (channels, number) = try opened()
            #expect(
                channels.receive(packet, on: 0x40) == [
                    signal(.disconnectionRequest(destination: 0x50, source: 0x40), 1), .closed(number),
                ])
            // What follows is ignored.
            #expect(channels.receive([1, 0, 2], on: 0x40) == [])
        }
        var (channels, number) = try opened()
        #expect(
            receive(.credits(source: 0x50, .max), at: &channels) == [
                signal(.disconnectionRequest(destination: 0x50, source: 0x40), 1), .closed(number),
            ])
    }

    @Test func aPacketOnNoChannelIsIgnored() throws {
        var (channels, _) = try opened()
        #expect(channels.receive([1, 0, 2], on: 0x41) == [])
        #expect(channels.receive([1, 0, 2], on: 0x3F) == [])
    }

    // MARK: The end

    @Test func thePeerDisconnects() throws {
        var (channels, number) = try opened()
        #expect(
            receive(.disconnectionRequest(destination: 0x40, source: 0x50), at: &channels) == [
                signal(.disconnectionResponse(destination: 0x40, source: 0x50)), .closed(number),
            ])
        #expect(
            receive(.disconnectionRequest(destination: 0x40, source: 0x50), 8, at: &channels) == [
                signal(.rejection(.invalidChannel(local: 0x40, remote: 0x50)), 8)
            ])
    }

    @Test func aDisconnectionOfAnotherSourceIsIgnored() throws {
        var (channels, number) = try opened()
        #expect(receive(.disconnectionRequest(destination: 0x40, source: 0x51), at: &channels) == [])
        #expect(channels.receive([1, 0, 2], on: 0x40) == [.received(number, [2])])
    }

    @Test func aClosedChannelIsDisconnectedWhenItsBytesHaveLeft() throws {
        var (channels, number) = try opened()
        _ = channels.send([UInt8](repeating: 1, count: 250), on: number)
        #expect(channels.close(number, isAtOnce: false) == [])
        #expect(channels.send([1], on: number) == [])
        // It receives nothing more.
        #expect(channels.receive([1, 0, 2], on: 0x40) == [])
        let actions = receive(.credits(source: 0x50, 9), at: &channels)
        #expect(actions.last == signal(.disconnectionRequest(destination: 0x50, source: 0x40), 1))
        #expect(channels.close(number, isAtOnce: true) == [])
        #expect(receive(.disconnectionResponse(destination: 0x50, source: 0x40), 1, at: &channels) == [])
        // The identifier is free again.
        #expect(receive(request(), 9, at: &channels) == [.requested(2, psm: 0x80)])
        #expect(channels.answer(2, .success) == [signal(accepted, 9)])
    }

    @Test func aChannelIsClosedAtOnce() throws {
        var (channels, number) = try opened()
        _ = channels.send([UInt8](repeating: 1, count: 250), on: number)
        #expect(channels.close(number, isAtOnce: false) == [])
        #expect(
            channels.close(number, isAtOnce: true) == [
                signal(.disconnectionRequest(destination: 0x50, source: 0x40), 1)
            ])
        #expect(receive(.credits(source: 0x50, 9), at: &channels) == [])
    }

    @Test func bothEndsMayDisconnectAtOnce() throws {
        var (channels, number) = try opened()
        #expect(channels.close(number, isAtOnce: false).count == 1)
        #expect(
            receive(.disconnectionRequest(destination: 0x40, source: 0x50), at: &channels) == [
                signal(.disconnectionResponse(destination: 0x40, source: 0x50))
            ])
        #expect(receive(.disconnectionResponse(destination: 0x50, source: 0x40), 1, at: &channels) == [])
    }

    @Test func anIdentifierIsNotFreeBeforeTheEndIsConfirmed() throws {
        var (channels, number) = try opened()
        _ = channels.close(number, isAtOnce: false)
        #expect(receive(.disconnectionResponse(destination: 0x50, source: 0x40), 9, at: &channels) == [])
        #expect(receive(request(), 8, at: &channels) == [refusal(.sourceInUse, 8)])
        #expect(receive(request(source: 0x51), 9, at: &channels) == [.requested(2, psm: 0x80)])
        guard case .send(_, let packet)? = channels.answer(2, .success).first else { throw Unexpected() }
        #expect(packet[4] == 0x41)
    }

    // MARK: Parameters

    private func parameters(
        _ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16
    ) -> SignalingPDU { .parametersRequest(minimum: minimum, maximum: maximum, latency: latency, timeout: timeout) }

    @Test func theCentralGrantsTheParametersOfAPeripheral() {
        var channels = L2CAPChannels(isCentral: true)
        #expect(
            receive(parameters(24, 40, 4, 300), at: &channels) == [
                signal(.parametersResponse(isAccepted: true)),
                .update(
                    HCIConnectionParameters(
                        interval: .milliseconds(50), latency: 4, supervisionTimeout: .milliseconds(3_000))),
            ])
    }

    @Test(
        arguments: [
            (5, 40, 0, 300), (24, 3201, 0, 300), (40, 24, 0, 300), (24, 40, 500, 300), (24, 40, 0, 9),
            (24, 40, 0, 3201),
        ] as [(UInt16, UInt16, UInt16, UInt16)])
    func parametersOutOfRangeAreRejected(_ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16) {
        var channels = L2CAPChannels(isCentral: true)
        #expect(
            receive(parameters(minimum, maximum, latency, timeout), at: &channels) == [
                signal(.parametersResponse(isAccepted: false))
            ])
    }

    @Test func aCentralDoesNotRequestParameters() {
        var channels = L2CAPChannels(isCentral: false)
        #expect(receive(parameters(24, 40, 4, 300), at: &channels) == [signal(.rejection(.notUnderstood))])
    }

    // MARK: Other packets

    private func raw(_ code: UInt8, _ data: [UInt8]) -> [UInt8] { [code, 7, UInt8(data.count), 0] + data }

    /// The codes of BR/EDR and of enhanced credit-based channels, a reserved one, and data of another length.
    @Test(arguments: [0x02, 0x04, 0x06, 0x08, 0x0A, 0x12, 0x14, 0x17, 0x19, 0xFF] as [UInt8])
    func otherRequestsAreNotUnderstood(_ code: UInt8) {
        var channels = L2CAPChannels(isCentral: true)
        #expect(channels.receive(raw(code, [1, 2]), on: 5) == [signal(.rejection(.notUnderstood))])
    }

    @Test(arguments: [0x01, 0x03, 0x05, 0x07, 0x13, 0x15, 0x16, 0x18, 0x1A] as [UInt8])
    func responsesHaveNoAnswer(_ code: UInt8) {
        var channels = L2CAPChannels(isCentral: true)
        #expect(channels.receive(raw(code, [0, 0]), on: 5) == [])
    }

    @Test func aPacketLongerThanTheMTUOfTheSignalingChannelIsRejected() {
        var channels = L2CAPChannels(isCentral: true)
        let packet = raw(0x17, [UInt8](repeating: 0, count: 20))
        #expect(channels.receive(packet, on: 5) == [signal(.rejection(.tooLong(mtu: 23)))])
    }

    @Test(
        arguments: [
            [], [0x14], [0x14, 7], [0x14, 7, 1], [0x14, 7, 2, 0, 1], [0x14, 7, 1, 0, 1, 2], [0x06, 0, 0, 0],
        ]
            as [[UInt8]])
    func aPacketOfAnotherLengthOrWithoutAnIdentifierHasNoAnswer(_ packet: [UInt8]) {
        var channels = L2CAPChannels(isCentral: false)
        #expect(channels.receive(packet, on: 5) == [])
    }

    /// Whatever a peer sends, no channel has more bytes than its credits allow for, and nothing traps.
    @Test(arguments: 0..<100) func randomPacketsAreSurvived(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed, stream: "channels")
        var channels = L2CAPChannels(isCentral: generator.happens(0.5))
        for _ in 0..<500 {
            let body = (0..<generator.below(14)).map { _ in UInt8(generator.below(100)) }
            let actions: [L2CAPChannels.Action] =
                switch generator.below(6) {
                case 0: channels.receive(raw(UInt8(generator.below(0x1C)), body), on: 5)
                case 1:
                    receive(
                        request(UInt16(generator.below(4)), source: 0x40 + UInt16(generator.below(8))), at: &channels)
                case 2: channels.receive(body, on: 0x40 + UInt16(generator.below(8)))
                case 3: channels.open(0x80)?.actions ?? []
                case 4: channels.close(Int(generator.below(50)), isAtOnce: generator.happens(0.5))
                default: channels.send(body, on: Int(generator.below(50)))
                }
            for action in actions {
                if case .requested(let number, _) = action { _ = channels.answer(number, .success) }
            }
        }
    }
}
