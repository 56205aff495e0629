import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Packets that are out of order, malformed, changed on their way or random.
struct PairingPacketTests {
    /// A pairing by each method that has packets of its own.
    enum Method: CaseIterable {
        case legacyJustWorks, legacyPasskey, comparison, passkey

        func link(seed: UInt64 = 1) -> PairingLink {
            let isLegacy = self == .legacyJustWorks || self == .legacyPasskey
            let (central, peripheral): (PairingCapability, PairingCapability) =
                switch self {
                case .legacyJustWorks: (.noInputNoOutput, .noInputNoOutput)
                case .legacyPasskey, .passkey: (.keyboardOnly, .displayOnly)
                case .comparison: (.displayYesNo, .displayYesNo)
                }
            return PairingLink(
                .side(.central, central, secureConnections: !isLegacy),
                .side(.peripheral, peripheral, secureConnections: !isLegacy), seed: seed)
        }

        private static let pairings = allCases.map { method in
            var link = method.link()
            link.handle(.central, .pair(isRequestedByUser: true))
            return link.packets
        }

        /// The packets of the whole pairing.
        var packets: [(sender: LinkSide, bytes: [UInt8])] {
            Self.allCases.firstIndex(of: self).map { Self.pairings[$0] } ?? []
        }
    }

    private func pair(_ method: Method, _ rewrite: @escaping PairingLink.Rewriting) -> PairingLink {
        var link = method.link()
        link.rewrite = rewrite
        link.handle(.central, .pair(isRequestedByUser: true))
        return link
    }

    /// One valid packet of each code.
    private static let valid: [SecurityManagerPDU] = {
        let features = SecurityManagerPDU.PairingFeatures(
            capability: 3, hasOutOfBandData: false, requiresAuthentication: false)
        let value = [UInt8](repeating: 0x55, count: 16)
        return [
            .pairingRequest(features), .pairingResponse(features), .confirm(value), .random(value),
            .encryptionInformation(value), .centralIdentification(random: 1, diversifier: 2),
            .identityInformation(value), .identityAddress(PairingLink.central), .signingInformation(value),
            .securityRequest([]), .publicKey(value + value + value + value), .check(value),
        ]
    }()

    @Test(arguments: Method.allCases)
    func aPacketOutOfOrderEndsThePairing(_ method: Method) {
        for (index, expected) in method.packets.enumerated() where index > 0 {
            for packet in Self.valid where packet.bytes[0] != expected.bytes[0] {
                let receiver = expected.sender.other
                // A central that is pairing ignores security requests.
                if case .securityRequest = packet, receiver == .central { continue }
                let link = pair(method) { _, number, bytes in number == index ? packet.bytes : bytes }
                let isOfOtherRole: Bool =
                    switch packet {
                    case .pairingRequest: receiver == .central
                    case .securityRequest: receiver == .peripheral
                    default: false
                    }
                let reason = isOfOtherRole ? PairingFailedReason.commandNotSupported : .unspecified
                #expect(link.failures[receiver] == [.ended(reason)], "\(index) \(packet)")
                #expect(link.pairings[receiver] == nil)
            }
        }
    }

    @Test(arguments: Method.allCases)
    func aPacketOfAnotherLengthEndsThePairing(_ method: Method) {
        for (index, expected) in method.packets.enumerated() {
            for change in [-1, 1] {
                let link = pair(method) { _, number, bytes in
                    number != index ? bytes : change < 0 ? Array(bytes.dropLast()) : bytes + [0]
                }
                #expect(link.failures[expected.sender.other] == [.ended(.invalidParameters)], "\(index)")
            }
        }
    }

    @Test(arguments: Method.allCases)
    func thePacketsOfAPairingWithoutItAreIgnored(_ method: Method) {
        for packet in Self.valid {
            for side in [LinkSide.central, .peripheral] {
                switch packet {
                case .pairingRequest, .securityRequest: continue
                default: break
                }
                var link = method.link()
                link.handle(side, .received(packet.bytes))
                #expect(link.packets.isEmpty && link.failures[side] == [])
            }
        }
    }

    /// LE Secure Connections authenticates the first three bytes of the features alone.
    @Test(arguments: Method.allCases)
    func aBitThatIsChangedOnItsWayEndsThePairing(_ method: Method) {
        var random = SeededGenerator(seed: 11)
        for (index, packet) in method.packets.enumerated() where index > 1 {
            // The keys are distributed on an encrypted link, whose packets no one changes.
            guard [0x03, 0x04, 0x0C, 0x0D].contains(packet.bytes[0]) else { continue }
            for _ in 0..<4 {
                let bit = Int(random.below(UInt64(8 * (packet.bytes.count - 1))))
                let link = pair(method) { _, number, bytes in
                    guard number == index else { return bytes }
                    return bytes.replacing(1 + bit / 8, with: bytes[1 + bit / 8] ^ 1 << (bit % 8))
                }
                #expect(link.pairings.isEmpty, "\(index) \(bit)")
                #expect(link.reasons == [0x04] || link.reasons == [0x0B], "\(index) \(bit) \(link.reasons)")
            }
        }
    }

    @Test(arguments: [Method.legacyJustWorks, .comparison], [0, 1])
    func aChangeOfTheAuthenticatedFeaturesEndsThePairing(_ method: Method, packet: Int) {
        // Another capability with the same method, and another bit of AuthReq.
        let changes: [(inout [UInt8]) -> Void] = [{ $0[1] = $0[1] == 3 ? 2 : 4 }, { $0[3] ^= 0x10 }]
        for change in changes {
            let link = pair(method) { _, number, bytes in
                var changed = bytes
                if number == packet { change(&changed) }
                return changed
            }
            #expect(link.pairings.isEmpty)
            #expect(link.reasons == [method == .comparison ? 0x0B : 0x04])
        }
    }

    @Test(arguments: [LinkSide.central, .peripheral])
    func anOwnPublicKeyThatComesBackEndsThePairing(to side: LinkSide) {
        let keys = Method.comparison.packets.filter { $0.bytes[0] == 0x0C }
        let link = pair(.comparison) { sender, _, bytes in
            guard bytes[0] == 0x0C, sender == side.other else { return bytes }
            // The peripheral's key does not depend on what it receives.
            return keys.first { $0.sender == side }?.bytes
        }
        #expect(link.failures[side] == [.ended(.checkFailed)] && link.pairings.isEmpty)
    }

    @Test(arguments: [LinkSide.central, .peripheral])
    func aPublicKeyThatIsNotOnTheCurveEndsThePairing(to side: LinkSide) {
        let link = pair(.comparison) { sender, _, bytes in
            bytes[0] == 0x0C && sender == side.other ? [0x0C] + [UInt8](repeating: 0, count: 64) : bytes
        }
        #expect(link.isEnded(by: side, .checkFailed))
    }

    @Test func ownValuesThatComeBackProveNothing() {
        // The confirm and the random value of the central.
        let own = Method.legacyPasskey.packets.filter { $0.sender == .central && (0x03...0x04).contains($0.bytes[0]) }
        let link = pair(.legacyPasskey) { sender, _, bytes in
            sender == .peripheral ? own.first { $0.bytes[0] == bytes[0] }?.bytes ?? bytes : bytes
        }
        #expect(link.isEnded(by: .central, .confirmValueFailed))
    }

    @Test(arguments: [Method.legacyPasskey, .passkey])
    func aConfirmValueBeforeThatOfTheCentralEndsThePairing(_ method: Method) {
        var link = method.link()
        link.answer = { _, _, _ in nil }
        link.handle(.central, .pair(isRequestedByUser: true))
        link.handle(.central, .received([0x03] + [UInt8](repeating: 1, count: 16)))
        #expect(link.isEnded(by: .central, .unspecified))
    }

    @Test func aCheckValueBeforeThatOfTheCentralEndsThePairing() {
        var link = Method.comparison.link()
        link.answer = { _, _, _ in nil }
        link.handle(.central, .pair(isRequestedByUser: true))
        link.handle(.central, .received([0x0D] + [UInt8](repeating: 1, count: 16)))
        #expect(link.isEnded(by: .central, .unspecified))
    }

    @Test(arguments: [true, false])
    func aDebugKeyIsAcceptedOnlyIfItIsAllowed(isAllowed: Bool) throws {
        let privateKey = try #require(Data(hexText: "3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd"))
        let debugKeys = try #require(DiffieHellmanKeys(privateKey: privateKey.reversed()))
        var link = PairingLink(.side(.central), .side(.peripheral).with { $0.acceptsDebugKeys = isAllowed })
        link.rewrite = { sender, _, bytes in
            bytes[0] == 0x0C && sender == .central ? [0x0C] + debugKeys.publicKey : bytes
        }
        link.handle(.central, .pair(isRequestedByUser: true))
        // The central does not know the key that arrives in place of its own, so that its values do not fit.
        let reason = isAllowed ? PairingFailedReason.confirmValueFailed : .authenticationRequirements
        #expect(link.failures[isAllowed ? .central : .peripheral] == [.ended(reason)])
    }

    // MARK: Random packets

    private static let codes: [UInt8: Int] = [
        0x01: 6, 0x02: 6, 0x03: 16, 0x04: 16, 0x05: 1, 0x06: 16, 0x07: 10, 0x08: 16, 0x09: 7, 0x0A: 16, 0x0B: 1,
        0x0C: 64, 0x0D: 16, 0x0E: 1,
    ]

    /// Any bytes, or a packet of the right length with any content.
    private static func packet(_ random: inout SeededGenerator) -> [UInt8] {
        guard random.happens(0.8) else { return random.bytes(Int(random.below(70))) }
        let code = UInt8(1 + random.below(14))
        guard code <= 0x02, random.happens(0.5) else { return [code] + random.bytes(codes[code] ?? 0) }
        return [code, UInt8(random.below(5)), UInt8(random.below(2))] + random.bytes(1)
            + [UInt8(7 + random.below(10))] + random.bytes(2)
    }

    @Test(arguments: UInt64(0)..<8)
    func randomPacketsEndThePairingAndAreAnsweredByAtMostOneEach(seed: UInt64) {
        var random = SeededGenerator(seed: seed, stream: "garbage")
        for _ in 0..<250 {
            let method = Method.allCases[Int(random.below(4))]
            // The pairing comes to this packet, which is lost.
            let reached = Int(random.below(UInt64(method.packets.count)))
            var link = method.link(seed: random.next())
            link.rewrite = { _, index, bytes in index < reached ? bytes : nil }
            link.handle(.central, .pair(isRequestedByUser: true))
            let side = random.happens(0.5) ? LinkSide.central : .peripheral
            for _ in 0..<20 {
                let (packets, failures) = (link.packets.count, link.failures[side]?.count ?? 0)
                link.handle(side, .received(Self.packet(&random)))
                // A response is followed by a first confirm value, as is a public key.
                #expect(link.packets.count <= packets + 2)
                #expect((link.failures[side]?.count ?? 0) <= failures + 1)
            }
            link.handle(side, .timedOut)
            #expect(link.pairings[side] == nil || !link.encryptions.isEmpty)
            #expect(!link.runningTimers.contains(side) && link.openQuestions[side] == nil)
            let hasBegun = side == .central || reached > 0
            #expect(!hasBegun || link.pairings[side] != nil || link.failures[side]?.isEmpty == false)
        }
    }

    @Test(arguments: UInt64(0)..<4)
    func aSideThatHearsRandomPacketsAloneNeverPairs(seed: UInt64) {
        var random = SeededGenerator(seed: seed, stream: "noise")
        for side in [LinkSide.central, .peripheral] {
            var link = Method.legacyJustWorks.link(seed: seed)
            link.rewrite = { _, _, _ in nil }
            for _ in 0..<2_000 { link.handle(side, .received(Self.packet(&random))) }
            #expect(link.pairings.isEmpty && link.encryptions.isEmpty)
            #expect(link.reasons.contains(0x09))
        }
    }
}
