import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import Testing

@testable import EmulatedBlueZ

/// Pair, and the agents that answer its questions.
@Suite struct PairingTests {
    private static let manager = "org.bluez.AgentManager1"
    private static let device = "org.bluez.Device1"

    private func register(_ fixture: inout DaemonFixture, _ capability: String = "", from client: String = ":1.1") {
        fixture.call(
            "RegisterAgent", .objectPath(.constant("/agent")), .string(capability), on: "/org/bluez", Self.manager,
            from: client)
    }

    private func ask(_ fixture: inout DaemonFixture, _ question: PairingQuestion) {
        fixture.handle(
            .pairing(
                adapter: 0,
                .requested(request: PairingRequestID(rawValue: 1), peer: DaemonFixture.peer, question: question)))
    }

    @Test func theFirstAgentIsTheDefaultAndTheNextOneFollowsIt() {
        var fixture = DaemonFixture()
        register(&fixture, "DisplayYesNo")
        register(&fixture, "KeyboardOnly", from: ":1.2")
        register(&fixture)
        fixture.call(
            "RequestDefaultAgent", .objectPath(.constant("/agent")), on: "/org/bluez", Self.manager, from: ":1.2")
        fixture.handle(.clientLeft(":1.2"))
        fixture.handle(.clientLeft(":1.1"))
        #expect(
            fixture.lines() == [
                "pairing setCapability(BluetoothBackend.PairingCapability.displayYesNo)", "hci0 Pairable=true",
                "answer 1",
                "answer 2",
                "refuse 3 AlreadyExists: Already Exists",
                "pairing setCapability(BluetoothBackend.PairingCapability.keyboardOnly)", "answer 4",
                "pairing setCapability(BluetoothBackend.PairingCapability.displayYesNo)",
                "pairing setCapability(BluetoothBackend.PairingCapability.noInputNoOutput)", "hci0 Pairable=false",
            ])
    }

    @Test func aBondedDeviceWithAPrivateAddressShowsItsIdentityUnderItsPath() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear()
        _ = fixture.lines()
        let facts = PeerFacts(peer: DaemonFixture.peer, address: "00:1A:7D:00:00:09")
        fixture.handle(.identityKnown(adapter: 0, facts))
        fixture.handle(.identityKnown(adapter: 0, facts))
        #expect(fixture.lines() == ["dev_C0_DE_00_00_18_0D Address=00:1A:7D:00:00:09 AddressType=public"])
    }

    @Test func pairConnectsPairsAndIsAnsweredOnceTheServicesAreKnown() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear()
        register(&fixture)
        _ = fixture.lines()
        fixture.call("Pair", on: DaemonFixture.device, Self.device)
        #expect(fixture.lines().first == "central connect")
        let parameters = LinkParameters(mtu: 23, writeCredits: 1)
        fixture.report(
            .connected(
                peer: DaemonFixture.peer, link: DaemonFixture.link, operation: OperationID(rawValue: 0),
                parameters: parameters))
        fixture.handle(.pairing(adapter: 0, .paired(peer: DaemonFixture.peer, operation: nil, isBonded: true)))
        #expect(fixture.outputs.map(DaemonFixture.line).contains("dev_C0_DE_00_00_18_0D Bonded=true Paired=true"))
        fixture.answerDiscovery()
        let lines = fixture.lines()
        #expect(lines.filter { $0.hasPrefix("answer") } == ["answer 3"])
        let resolved = lines.firstIndex { $0.hasPrefix("dev_C0_DE_00_00_18_0D ServicesResolved=true") }
        #expect(resolved ?? 99 < lines.firstIndex(of: "answer 3") ?? 0)
        fixture.call("Pair", on: DaemonFixture.device, Self.device)
        #expect(fixture.lines() == ["refuse 4 AlreadyExists: Already Exists"])
    }

    @Test func theCallersAgentIsAskedBeforeTheDefaultOne() {
        var fixture = DaemonFixture.connected()
        register(&fixture, from: ":1.1")
        register(&fixture, from: ":1.2")
        fixture.call("Pair", on: DaemonFixture.device, Self.device, from: ":1.2")
        _ = fixture.lines()
        ask(&fixture, .confirm(passkey: 123_456))
        #expect(fixture.lines() == [":1.2 /agent RequestConfirmation dev_C0_DE_00_00_18_0D 123456"])
    }

    @Test func anAgentThatRefusesOrDoesNotAnswerRejectsThePairing() {
        var fixture = DaemonFixture.connected()
        register(&fixture)
        fixture.call("Pair", on: DaemonFixture.device, Self.device)
        ask(&fixture, .enterPasskey)
        fixture.reply(.failure(DBusError(name: "org.bluez.Error.Rejected", message: "")))
        #expect(fixture.lines().last?.hasSuffix("PairingAnswer.reject)") == true)
        let error = BackendError(.operationCancelled, operation: "pair")
        fixture.handle(.pairing(adapter: 0, .pairingFailed(peer: DaemonFixture.peer, operation: nil, error: error)))
        #expect(fixture.lines() == ["refuse 4 AuthenticationFailed: Authentication Failed"])
    }

    @Test(arguments: [PairingQuestion.consent, .confirm(passkey: 1), .enterPasskey])
    func withoutAnAgentNothingIsAccepted(_ question: PairingQuestion) {
        var fixture = DaemonFixture.connected()
        ask(&fixture, question)
        #expect(fixture.lines().last?.hasSuffix("PairingAnswer.reject)") == true)
    }

    @Test func pairFailsWithoutAnAgentAndTheLinkStays() {
        var fixture = DaemonFixture.connected()
        fixture.call("Pair", on: DaemonFixture.device, Self.device)
        let lines = fixture.lines()
        #expect(lines.contains("refuse 3 AuthenticationFailed: Authentication Failed"))
        #expect(!lines.contains { $0.hasPrefix("central") || $0.hasPrefix("pairing pair") })
    }

    @Test func theAgentOfWhoPairsIsNotAskedForConsent() {
        var fixture = DaemonFixture.connected()
        register(&fixture)
        fixture.call("Pair", on: DaemonFixture.device, Self.device)
        ask(&fixture, .consent)
        #expect(fixture.lines().last?.hasSuffix("PairingAnswer.accept)") == true)
    }

    @Test(arguments: [
        (PairingQuestion.enterPasskey, "passkey(123)"), (.consent, "accept"), (.confirm(passkey: 1), "accept"),
    ])
    func withAPasskeyPairingsWithoutAnAgentAreAnswered(question: PairingQuestion, answer: String) {
        var fixture = DaemonFixture.connected(EmulatedBlueZConfiguration(passkey: 123))
        ask(&fixture, question)
        #expect(fixture.lines().last?.hasSuffix("PairingAnswer.\(answer))") == true)
    }

    @Test func aClientsOwnAgentIsAskedInPlaceOfThePasskey() {
        var fixture = DaemonFixture.connected(EmulatedBlueZConfiguration(passkey: 123))
        register(&fixture)
        _ = fixture.lines()
        ask(&fixture, .enterPasskey)
        #expect(fixture.lines() == [":1.1 /agent RequestPasskey dev_C0_DE_00_00_18_0D"])
    }

    @Test(arguments: [false, true]) func aPairingThatFailsWithoutAnAgentIsRemarkedOn(hasAgent: Bool) {
        var fixture = DaemonFixture.connected()
        if hasAgent { register(&fixture) }
        _ = fixture.lines()
        let error = BackendError(.operationCancelled, operation: "pair")
        fixture.handle(.pairing(adapter: 0, .pairingFailed(peer: DaemonFixture.peer, operation: nil, error: error)))
        let remarks = fixture.lines().filter { $0.hasPrefix("remark") }
        #expect(remarks.count == (hasAgent ? 0 : 1))
        #expect(remarks.allSatisfy { $0.contains("no program has registered an agent") })
    }

    @Test func aPasskeyOutOfRangeIsARefusal() {
        var fixture = DaemonFixture.connected()
        register(&fixture)
        ask(&fixture, .enterPasskey)
        fixture.reply(.uint32(1_000_000))
        #expect(fixture.lines().last?.hasSuffix("PairingAnswer.reject)") == true)
    }

    @Test func aClientThatLeavesGivesUpItsPairing() {
        var fixture = DaemonFixture.connected()
        register(&fixture)
        fixture.call("Pair", on: DaemonFixture.device, Self.device)
        ask(&fixture, .confirm(passkey: 1))
        _ = fixture.lines()
        fixture.handle(.clientLeft(":1.1"))
        let lines = fixture.lines()
        #expect(lines.contains { $0.hasSuffix("PairingAnswer.reject)") })
        #expect(lines.contains { $0.hasPrefix("refuse 4 AuthenticationCanceled") })
    }

    @Test func bondedDevicesAreThereFromTheStart() {
        let bond = PeerFacts(peer: DaemonFixture.peer, address: "C0:DE:00:00:18:0D", name: "Lock")
        let fixture = DaemonFixture(bonds: [bond])
        let device = fixture.context.tree.properties(of: Self.device, at: .constant(DaemonFixture.device))
        #expect(device?["Paired"] == .boolean(true))
        #expect(device?["Name"] == .string("Lock"))
    }
}
