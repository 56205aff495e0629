import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Pairings that fail, and how.
struct PairingFailureTests {
    private static let sides = [LinkSide.central, .peripheral]

    private func pair(_ link: PairingLink) -> PairingLink {
        var link = link
        link.handle(.central, .pair(isRequestedByUser: true))
        return link
    }

    private func link(
        _ central: PairingCapability = .noInputNoOutput, _ peripheral: PairingCapability = .noInputNoOutput,
        secureConnections: Bool = true
    ) -> PairingLink {
        PairingLink(
            .side(.central, central, secureConnections: secureConnections),
            .side(.peripheral, peripheral, secureConnections: secureConnections))
    }

    // MARK: Users

    @Test(arguments: sides)
    func inLegacyPairingThePeripheralFindsAWrongPasskey(entersAt side: LinkSide) {
        var link = link(
            side == .central ? .keyboardOnly : .displayOnly, side == .central ? .displayOnly : .keyboardOnly,
            secureConnections: false)
        link.answer = { _, question, number in question == .enterPasskey ? .passkey((number + 1) % 1_000_000) : nil }
        #expect(pair(link).isEnded(by: .peripheral, .confirmValueFailed))
    }

    @Test(arguments: sides, [0, 7, 19])
    func thePeripheralFindsTheFirstBitOfAPasskeyThatIsWrong(entersAt side: LinkSide, bit: Int) {
        var link = PairingLink(
            .side(.central, side == .central ? .keyboardOnly : .displayOnly).with { $0.passkey = 300_000 },
            .side(.peripheral, side == .central ? .displayOnly : .keyboardOnly).with { $0.passkey = 300_000 })
        link.answer = { _, question, number in question == .enterPasskey ? .passkey(number ^ 1 << bit) : nil }
        link = pair(link)
        #expect(link.isEnded(by: .peripheral, .confirmValueFailed))
        #expect(link.count(0x03) == 2 * (bit + 1))
    }

    @Test(arguments: sides)
    func numbersThatDifferForTheUserEndThePairing(_ side: LinkSide) {
        var link = link(.displayYesNo, .displayYesNo)
        link.answer = { asked, _, _ in asked == side ? .reject : .accept }
        #expect(pair(link).isEnded(by: side, .numericComparisonFailed))
    }

    @Test(arguments: sides, [true, false])
    func aUserWhoRefusesToEnterAPasskeyEndsThePairing(_ side: LinkSide, secureConnections: Bool) {
        var link = link(.keyboardOnly, .keyboardOnly, secureConnections: secureConnections)
        link.answer = { asked, _, number in asked == side ? .reject : nil }
        #expect(pair(link).isEnded(by: side, .passkeyEntryFailed))
    }

    @Test(arguments: sides, [true, false])
    func aUserWhoRefusesTheShownPasskeyEndsThePairing(_ side: LinkSide, secureConnections: Bool) {
        var link = link(
            side == .central ? .displayOnly : .keyboardOnly, side == .central ? .keyboardOnly : .displayOnly,
            secureConnections: secureConnections)
        link.answer = { asked, _, _ in asked == side ? .reject : nil }
        #expect(pair(link).isEnded(by: side, .passkeyEntryFailed))
    }

    @Test(arguments: [PairingAnswer.reject, .passkey(1)])
    func aUserWhoDoesNotConsentEndsThePairing(_ answer: PairingAnswer) {
        var link = link()
        link.answer = { _, _, _ in answer }
        #expect(pair(link).isEnded(by: .peripheral, .passkeyEntryFailed))
    }

    @Test(arguments: [PairingAnswer.accept, .passkey(-1), .passkey(1_000_000), .passkey(.max)])
    func anAnswerThatIsNoPasskeyEndsThePairing(_ answer: PairingAnswer) {
        var link = link(.keyboardOnly, .displayOnly)
        link.answer = { _, question, _ in question == .enterPasskey ? answer : nil }
        #expect(pair(link).isEnded(by: .central, .passkeyEntryFailed))
    }

    @Test func anAnswerWithoutAQuestionIsIgnored() {
        var link = pair(link())
        for answer in [PairingAnswer.accept, .reject, .passkey(1)] { link.handle(.central, .answered(answer)) }
        #expect(link.failures[.central] == [] && link.pairings.count == 2)
    }

    @Test(arguments: sides)
    func anAppThatGivesUpEndsThePairing(_ side: LinkSide) {
        var link = link(.displayYesNo, .displayYesNo)
        link.answer = { _, _, _ in nil }
        link = pair(link)
        link.handle(side, .cancel)
        #expect(link.isEnded(by: side, .unspecified))
        link.handle(side, .cancel)
        #expect(link.reasons.count == 1)
    }

    @Test func theCentralsCheckWaitsForTheUserOfThePeripheral() {
        var link = link(.displayYesNo, .displayYesNo)
        link.answer = { side, _, _ in side == .central ? .accept : nil }
        link = pair(link)
        #expect(link.count(0x0D) == 1 && link.pairings.isEmpty)
        link.handle(.peripheral, .answered(.accept))
        #expect(link.count(0x0D) == 2 && link.pairings.count == 2)
    }

    // MARK: Time and links

    @Test(arguments: [true, false], [0, 1, 2, 3, 4, 5])
    func aSilentPeerEndsThePairingAndAllFurtherOnesOfTheLink(secureConnections: Bool, index: Int) {
        var link = link(secureConnections: secureConnections)
        link.rewrite = { _, number, packet in number < index ? packet : nil }
        link = pair(link)
        #expect(!link.runningTimers.isEmpty)
        for side in link.runningTimers { link.handle(side, .timedOut) }
        let count = link.packets.count
        #expect(link.failures[.central] == [.timedOut] && link.openQuestions.isEmpty && link.reasons == [])
        link.handle(.central, .pair(isRequestedByUser: true))
        link.handle(.central, .received([0x0B, 0x01]))
        #expect(link.packets.count == count)
    }

    @Test func aUserWhoNeverAnswersEndsThePairing() {
        var link = link()
        link.answer = { _, _, _ in nil }
        link = pair(link)
        #expect(link.runningTimers == [.central, .peripheral] && link.openQuestions == [.peripheral: .consent])
        for side in Self.sides { link.handle(side, .timedOut) }
        #expect(link.failures == [.central: [.timedOut], .peripheral: [.timedOut]] && link.openQuestions.isEmpty)
        // No packet follows, and a late answer changes nothing.
        link.handle(.peripheral, .answered(.accept))
        #expect(link.packets.count == 1)
    }

    @Test func aSecurityRequestThatTheCentralIgnoresBarsNoPairing() {
        var link = PairingLink(.side(.central).with { $0.policy = .ignore }, .side(.peripheral))
        link.handle(.peripheral, .pair(isRequestedByUser: true))
        #expect(link.runningTimers == [.peripheral] && link.packets.count == 1)
        link.handle(.peripheral, .timedOut)
        #expect(link.failures[.peripheral] == [.timedOut])
        #expect(pair(link).pairings.count == 2)
    }

    @Test func aTimeoutAfterTheEndOfAPairingIsIgnored() {
        var link = pair(link())
        link.handle(.central, .timedOut)
        #expect(link.failures[.central] == [])
        #expect(pair(link).encryptions.count == 2)
    }

    @Test(arguments: sides)
    func theEndOfTheLinkEndsThePairing(_ side: LinkSide) {
        var link = link(.displayYesNo, .displayYesNo)
        link.answer = { _, _, _ in nil }
        link = pair(link)
        link.handle(side, .disconnected)
        #expect(link.failures[side] == [.disconnected] && link.reasons == [])
        #expect(link.openQuestions[side] == nil && !link.runningTimers.contains(side))
    }

    @Test(arguments: [UInt8(0x06), 0x3D])
    func aFailureOfTheEncryptionEndsThePairing(status: UInt8) {
        let central = SecurityManager.Configuration.side(.central)
        var manager = SecurityManager(
            side: .central, address: PairingLink.central, peerAddress: PairingLink.peripheral, configuration: central,
            random: SeededGenerator(seed: 1))
        manager.phase = .encrypting(terms(), key: [UInt8](repeating: 1, count: 16))
        #expect(
            manager.handle(.encryptionChanged(status: status)) == [.stopTimer, .failed(.encryption(status: status))])
        #expect(!manager.isEncrypted)
    }

    private func terms() -> PairingTerms {
        let features = SecurityManagerPDU.PairingFeatures(
            capability: 3, hasOutOfBandData: false, requiresAuthentication: false)
        do {
            return try PairingTerms(
                .side(.central), side: .central, central: PairingLink.central, peripheral: PairingLink.peripheral,
                request: features, response: features)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    // MARK: Features

    @Test(arguments: sides, [true, false])
    func aKeyThatIsTooShortIsRefused(by side: LinkSide, secureConnections: Bool) {
        func configuration(_ own: LinkSide) -> SecurityManager.Configuration {
            .side(own, secureConnections: secureConnections).with { $0.keySizes = own == side ? 16...16 : 7...15 }
        }
        let link = pair(PairingLink(configuration(.central), configuration(.peripheral)))
        #expect(link.isEnded(by: side, .encryptionKeySize))
    }

    @Test(arguments: 7...16, [true, false])
    func theKeysAreAsShortAsBothAllow(size: Int, secureConnections: Bool) throws {
        let link = pair(
            PairingLink(
                .side(.central, secureConnections: secureConnections),
                .side(.peripheral, secureConnections: secureConnections).with { $0.keySizes = 7...size }))
        let keys = try #require(link.pairings[.central]?.keys)
        let zeros = [UInt8](repeating: 0, count: 16 - size)
        #expect(keys.size == size && keys == link.pairings[.central]?.keys)
        for key in link.encryptions + [keys.own.longTermKey?.value, keys.peer.longTermKey?.value].compactMap({ $0 }) {
            #expect(key.count == 16 && Array(key.suffix(16 - size)) == zeros && Set(key.prefix(size)) != [0])
        }
    }

    @Test(arguments: sides, [true, false])
    func aSideThatRequiresAuthenticationRefusesJustWorks(_ side: LinkSide, secureConnections: Bool) {
        func configuration(_ own: LinkSide) -> SecurityManager.Configuration {
            .side(own, own == side ? .displayYesNo : .noInputNoOutput, secureConnections: secureConnections).with {
                if own == side { $0.authentication = .required }
            }
        }
        let link = pair(PairingLink(configuration(.central), configuration(.peripheral)))
        #expect(link.isEnded(by: side, .authenticationRequirements))
    }

    @Test func aPeerWithoutOutOfBandDataOfThisSideIsNotPaired() {
        var link = link()
        link.rewrite = { _, index, packet in index == 0 ? packet.replacing(2, with: 1) : packet }
        #expect(pair(link).isEnded(by: .peripheral, .outOfBandDataNotAvailable))
    }

    @Test func inLegacyPairingOutOfBandDataOfOneSideIsNotUsed() {
        var manager = PairingLink(.side(.central), .side(.peripheral, secureConnections: false)).ends[.peripheral]
        let actions = manager?.handle(.received([0x01, 0x03, 0x01, 0x01, 16, 3, 3])) ?? []
        #expect(actions == [.startTimer, .ask(.consent)])
    }

    @Test(
        arguments: [
            [0x01, 5, 0, 1, 16, 3, 3], [0x01, 0xFF, 0, 1, 16, 3, 3], [0x01, 3, 2, 1, 16, 3, 3],
            [0x01, 3, 0, 1, 6, 3, 3],
            [0x01, 3, 0, 1, 17, 3, 3], [0x01, 3, 0, 1, 16, 3], [0x01, 3, 0, 1, 16, 3, 3, 0], [0x01],
        ] as [[UInt8]])
    func featuresOutOfRangeAreRefused(request: [UInt8]) {
        var link = link()
        link.handle(.peripheral, .received(request))
        #expect(link.failures[.peripheral] == [.ended(.invalidParameters)] && link.reasons == [0x0A])
    }

    @Test(arguments: [5, 6])
    func aResponseWithKeysThatWereNotOfferedIsRefused(index: Int) {
        var link = link()
        link.rewrite = { _, number, packet in number == 1 ? packet.replacing(index, with: 0x0F) : packet }
        #expect(pair(link).isEnded(by: .central, .invalidParameters))
    }

    @Test(arguments: sides)
    func aSideThatPairsWithNoOneSaysSo(_ side: LinkSide) {
        var link = PairingLink(
            .side(.central).with { $0.policy = .refuse(.pairingNotSupported) },
            .side(.peripheral).with { $0.policy = .refuse(.pairingNotSupported) })
        link.handle(side.other, .pair(isRequestedByUser: true))
        #expect(link.isEnded(by: side, .pairingNotSupported))
    }

    @Test(arguments: sides)
    func aSideThatIgnoresRequestsSendsNothing(_ side: LinkSide) {
        var link = PairingLink(
            .side(.central).with { $0.policy = .ignore }, .side(.peripheral).with { $0.policy = .ignore })
        link.handle(side.other, .pair(isRequestedByUser: true))
        #expect(link.packets.count == 1 && link.failures == [.central: [], .peripheral: []])
        #expect(link.runningTimers == [side.other])
    }

    @Test(arguments: sides)
    func afterManyFailuresThePeersRequestsAreRefused(_ side: LinkSide) {
        var link = PairingLink(
            .side(.central).with { $0.maximumFailures = 3 }, .side(.peripheral).with { $0.maximumFailures = 3 })
        link.answer = { _, _, _ in .reject }
        for _ in 0..<3 { link.handle(side.other, .pair(isRequestedByUser: true)) }
        #expect(link.reasons == [1, 1, 1])
        link.answer = { _, _, _ in .accept }
        link.handle(side.other, .pair(isRequestedByUser: true))
        #expect(link.reasons == [1, 1, 1, 9] && link.pairings.isEmpty)
        #expect(link.failures[side]?.last == .ended(.repeatedAttempts))
    }

    @Test func aPairingAfterAFailureSucceeds() {
        var link = link()
        link.answer = { _, _, _ in .reject }
        link = pair(link)
        link.answer = { _, _, _ in .accept }
        #expect(pair(link).pairings.count == 2)
    }

    // MARK: Packets of others

    @Test func aCentralSupportsNoPairingRequestAndAPeripheralNoSecurityRequest() {
        var link = link()
        link.handle(.central, .received([0x01, 3, 0, 1, 16, 3, 3]))
        link.handle(.peripheral, .received([0x0B, 1]))
        #expect(link.reasons == [7, 7])
    }

    @Test(arguments: [UInt8(0x00), 0x0F, 0x10, 0x80, 0xFF])
    func aPacketOfAReservedCodeIsIgnored(code: UInt8) {
        var link = link(.displayYesNo, .displayYesNo)
        link.answer = { _, _, _ in nil }
        link = pair(link)
        let count = link.packets.count
        for side in Self.sides {
            link.handle(side, .received([code]))
            link.handle(side, .received([code] + [UInt8](repeating: 0, count: 16)))
            link.handle(side, .received([]))
        }
        #expect(link.packets.count == count)
        for side in Self.sides { link.handle(side, .answered(.accept)) }
        #expect(link.pairings.count == 2)
    }

    @Test func keypressesChangeNothing() {
        var link = link(.keyboardOnly, .displayOnly)
        link.answer = { _, _, _ in nil }
        link = pair(link)
        for value in UInt8(0)...4 { link.handle(.peripheral, .received([0x0E, value])) }
        #expect(link.failures == [.central: [], .peripheral: []] && link.openQuestions.count == 2)
    }

    @Test func aSecurityRequestDuringAPairingIsIgnored() {
        var link = link(.displayYesNo, .displayYesNo)
        link.answer = { _, _, _ in nil }
        link = pair(link)
        let count = link.packets.count
        link.handle(.central, .received([0x0B, 0x0D]))
        #expect(link.packets.count == count && link.openQuestions.count == 2)
    }

    @Test func aFailureWithoutAPairingIsIgnored() {
        var link = link()
        for side in Self.sides { link.handle(side, .received([0x05, 0x08])) }
        #expect(link.packets.isEmpty && link.failures == [.central: [], .peripheral: []])
    }

    @Test(arguments: UInt8(0)...0x10)
    func theReasonOfThePeerIsReported(reason: UInt8) {
        var link = link()
        link.rewrite = { _, index, packet in index == 1 ? [0x05, reason] : packet }
        link = pair(link)
        #expect(link.failures[.central] == [.endedByPeer(PairingFailedReason(rawValue: reason))])
        #expect(link.reasons == [])
    }
}

extension [UInt8] {
    func replacing(_ index: Int, with value: UInt8) -> [UInt8] {
        var copy = self
        copy[index] = value
        return copy
    }
}
