import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Every method between every two capabilities.
struct PairingMethodTests {
    static let capabilities: [PairingCapability] = [
        .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
    ]
    /// Core Specification, Vol 3, Part H, tables 2.7 and 2.8, by the initiator and then by the responder: just works, numeric
    /// comparison, the central shows the passkey, the peripheral does, no one does.
    static let legacy = ["jjcjc", "jjcjc", "ppbjp", "jjjjj", "ppcjc"]
    static let secureConnections = ["jjcjc", "jncjn", "ppbjp", "jjjjj", "pncjn"]

    struct Case: CustomTestStringConvertible, Sendable {
        let central: PairingCapability
        let peripheral: PairingCapability
        let usesSecureConnections: Bool
        let starter: LinkSide
        let method: Character

        var testDescription: String {
            "\(central) \(peripheral) \(usesSecureConnections ? "LE Secure Connections" : "legacy"), by the \(starter)"
        }
    }

    static let cases: [Case] = [true, false].flatMap { usesSecureConnections in
        [LinkSide.central, .peripheral].flatMap { starter in
            zip(capabilities, usesSecureConnections ? secureConnections : legacy).flatMap { central, methods in
                zip(capabilities, methods).map { peripheral, method in
                    Case(
                        central: central, peripheral: peripheral, usesSecureConnections: usesSecureConnections,
                        starter: starter, method: method)
                }
            }
        }
    }

    @Test(arguments: cases)
    func bothSidesUseTheMethodOfTheTableAndHaveTheSameKeys(_ test: Case) throws {
        var link = PairingLink(
            .side(.central, test.central, secureConnections: test.usesSecureConnections),
            .side(.peripheral, test.peripheral, secureConnections: test.usesSecureConnections))
        link.handle(test.starter, .pair(isRequestedByUser: true))
        #expect(link.failures == [.central: [], .peripheral: []])
        let central = try #require(link.pairings[.central])
        let peripheral = try #require(link.pairings[.peripheral])

        expectQuestions(of: test, link)
        #expect(link.count(0x0C) == (test.usesSecureConnections ? 2 : 0))
        let rounds = !test.usesSecureConnections ? 1 : "cpb".contains(test.method) ? 20 : nil
        #expect(link.count(0x03) == rounds.map { 2 * $0 } ?? 1)

        #expect(central.keys.own == peripheral.keys.peer && central.keys.peer == peripheral.keys.own)
        #expect(central.keys.peer.longTermKey?.value.count == 16)
        #expect(central.keys.usesSecureConnections == test.usesSecureConnections)
        #expect(central.keys.peer.identityAddress == PairingLink.peripheral)
        #expect(peripheral.keys.peer.identityKey == [UInt8](repeating: 0xC1, count: 16))
        let isAuthenticated = test.method != "j"
        for side in [LinkSide.central, .peripheral] {
            #expect(link.pairings[side]?.keys.isAuthenticated == isAuthenticated)
            #expect(link.pairings[side]?.isBonded == true)
            #expect(link.encrypted[side] == [isAuthenticated])
            #expect(link.ends[side]?.isEncrypted == true && link.ends[side]?.isAuthenticated == isAuthenticated)
        }
        #expect(link.encryptions.count == 1 && link.isQuiet)
        if test.usesSecureConnections {
            let key = SecurityKeys.LongTermKey(value: link.encryptions[0], random: 0, diversifier: 0)
            #expect(central.keys.own.longTermKey == key && central.keys.peer.longTermKey == key)
        }
    }

    private func expectQuestions(of test: Case, _ link: PairingLink) {
        let (central, peripheral) = (link.questions[.central] ?? [], link.questions[.peripheral] ?? [])
        switch test.method {
        case "j":
            #expect(link.questions[test.starter] == [])
            #expect(link.questions[test.starter.other] == [.consent])
        case "n":
            guard case .confirm? = central.first else {
                Issue.record("\(central)")
                return
            }
            #expect(central.count == 1 && central == peripheral)
        case "b": #expect(central == [.enterPasskey] && peripheral == [.enterPasskey])
        default:
            let (shows, types) = test.method == "c" ? (central, peripheral) : (peripheral, central)
            guard case .display? = shows.first else {
                Issue.record("\(shows)")
                return
            }
            #expect(shows.count == 1 && types == [.enterPasskey])
        }
    }

    @Test(arguments: capabilities, capabilities)
    func ifNeitherSideRequestsAuthenticationTheMethodIsJustWorks(
        _ central: PairingCapability, _ peripheral: PairingCapability
    ) {
        var link = PairingLink(
            .side(.central, central).with { $0.authentication = .none },
            .side(.peripheral, peripheral).with { $0.authentication = .none })
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.pairings[.central]?.keys.isAuthenticated == false)
        #expect(link.questions == [.central: [], .peripheral: [.consent]])
    }

    @Test(arguments: [LinkSide.central, .peripheral])
    func theRequestOfOneSideForAuthenticationIsEnough(_ side: LinkSide) {
        func configuration(_ own: LinkSide) -> SecurityManager.Configuration {
            .side(own, .keyboardDisplay).with { $0.authentication = own == side ? .requested : .none }
        }
        var link = PairingLink(configuration(.central), configuration(.peripheral))
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.pairings[.central]?.keys.isAuthenticated == true)
    }

    @Test func theCentralAuthenticatesIfThePeripheralAsksForIt() {
        var link = PairingLink(
            .side(.central, .displayYesNo).with { $0.authentication = .none }, .side(.peripheral, .displayYesNo))
        link.handle(.peripheral, .pair(isRequestedByUser: true))
        #expect(link.packets[0].bytes == [0x0B, 0x0D])
        #expect(link.packets[1].bytes[3] == 0x0D)
        #expect(link.pairings[.central]?.keys.isAuthenticated == true)
    }

    @Test(arguments: [LinkSide.central, .peripheral])
    func withASideOfLegacyPairingAloneThePairingIsLegacy(_ side: LinkSide) {
        var link = PairingLink(
            .side(.central, .displayYesNo, secureConnections: side != .central),
            .side(.peripheral, .displayYesNo, secureConnections: side != .peripheral))
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.pairings[.central]?.keys.usesSecureConnections == false)
        #expect(link.pairings[.central]?.keys.isAuthenticated == false)
    }

    @Test func aSideOfWhichNoUserAskedForThePairingIsAskedForConsentOnBothSides() {
        var link = PairingLink(.side(.central), .side(.peripheral))
        link.handle(.central, .pair(isRequestedByUser: false))
        #expect(link.questions == [.central: [.consent], .peripheral: [.consent]])
        #expect(link.pairings.count == 2)
    }

    @Test(arguments: [true, false])
    func theConsentToAPairingIsNoneToTheNext(isAccepted: Bool) {
        var link = PairingLink(.side(.central), .side(.peripheral))
        link.answer = { _, _, _ in isAccepted ? .accept : .reject }
        link.handle(.peripheral, .pair(isRequestedByUser: true))
        #expect(link.questions == [.central: [.consent], .peripheral: []])
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.questions == [.central: [.consent], .peripheral: [.consent]])
    }

    @Test(arguments: [true, false])
    func aFixedPasskeyIsTheOneThatIsShown(usesSecureConnections: Bool) {
        var link = PairingLink(
            .side(.central, .keyboardOnly, secureConnections: usesSecureConnections),
            .side(.peripheral, .displayOnly, secureConnections: usesSecureConnections).with { $0.passkey = 42 })
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.questions[.peripheral] == [.display(passkey: 42)])
        #expect(link.pairings[.central]?.keys.isAuthenticated == true)
    }

    @Test func aSeedRepeatsThePairing() {
        func packets(seed: UInt64) -> [[UInt8]] {
            var link = PairingLink(.side(.central, .keyboardOnly), .side(.peripheral, .displayOnly), seed: seed)
            link.handle(.central, .pair(isRequestedByUser: true))
            return link.packets.map(\.bytes)
        }
        #expect(packets(seed: 3) == packets(seed: 3))
        #expect(packets(seed: 3) != packets(seed: 4))
    }
}
