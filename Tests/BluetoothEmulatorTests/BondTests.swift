import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// The contents of a bond, and its loss.
@Suite struct BondTests {
    private func disconnect(_ fixture: SecureFixture) async throws {
        _ = try await fixture.central.run(.disconnect(peer: try fixture.peer))
    }

    private func connect(_ fixture: SecureFixture, within limit: Duration = .seconds(60)) async throws -> CentralEvent {
        let peer = try fixture.peer
        let count = fixture.central.events.count
        fixture.central.submit(.connect(peer: peer, operation: op(9), options: ConnectOptions()))
        try await fixture.emulator.advance(until: { fixture.central.events.count > count }, within: limit)
        return try #require(fixture.central.events(from: count).first)
    }

    @Test func aBondedLinkIsEncryptedFromTheStart() async throws {
        let fixture = try await SecureFixture(agent: .displayYesNo)
        fixture.emulator.host.bond(with: fixture.device)
        let link = try await fixture.beginRead()
        #expect(fixture.central.events.last == SecureFixture.value(link))
        #expect(fixture.events.isEmpty)
    }

    @Test func S37_aDeviceThatLostItsKeysFailsTheConnect() async throws {
        let fixture = try await SecureFixture()
        _ = try await fixture.beginRead()
        try await disconnect(fixture)
        fixture.device.removeBond()
        guard case .connectFailed(_, op(9), let error) = try await connect(fixture) else {
            throw Unexpected("\(fixture.central.events)")
        }
        #expect(error.code == .peerRemovedPairingInformation)
        // After the host has forgotten the keys too, the two pair anew.
        fixture.emulator.host.removeBond(with: fixture.device)
        let link = try await fixture.beginRead()
        #expect(fixture.central.events.last == SecureFixture.value(link))
    }

    @Test func S37_aDeviceThatDoesNotEncryptFailsTheConnectAfter40Seconds() async throws {
        let fixture = try await SecureFixture()
        _ = try await fixture.beginRead()
        try await disconnect(fixture)
        try fixture.device.setPairing(PairingDescription(answer: .ignore))
        let start = fixture.emulator.now
        guard case .connectFailed(_, op(9), let error) = try await connect(fixture) else {
            throw Unexpected("\(fixture.central.events)")
        }
        #expect(error.code == .encryptionTimedOut)
        #expect(fixture.emulator.now - start >= .seconds(40))
    }

    @Test func S37_theTimeoutOfACancelledConnectFailsNoLaterOne() async throws {
        let fixture = try await SecureFixture()
        _ = try await fixture.beginRead()
        try await disconnect(fixture)
        try fixture.device.setPairing(PairingDescription(answer: .ignore))
        let peer = try fixture.peer
        fixture.central.submit(.connect(peer: peer, operation: op(8), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(30))
        fixture.central.submit(.disconnect(peer: peer))
        let start = fixture.emulator.now
        guard case .connectFailed(_, op(9), _) = try await connect(fixture) else {
            throw Unexpected("\(fixture.central.events)")
        }
        #expect(fixture.emulator.now - start >= .seconds(40))
    }

    @Test func aHostThatForgetsEndsTheLinkAndPairsAnew() async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        let first = try await fixture.beginRead()
        try await fixture.answer(.accept)
        let peer = try fixture.peer
        fixture.agent.submit(.unpair(peer: peer, operation: op(3)))
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.events.last == .unpaired(peer: peer, operation: op(3)))
        guard case .disconnected(first, .unknown, _, _, _)? = fixture.central.events.last else {
            throw Unexpected("\(fixture.central.events)")
        }
        #expect(!fixture.emulator.host.isBonded(with: fixture.device))
        // The device still has keys, so its error is "insufficient encryption".
        let link = try await fixture.beginRead()
        try await fixture.answer(.reject)
        #expect(fixture.central.events.last == SecureFixture.refused(link, 0x0F))
        fixture.agent.submit(.unpair(peer: peer, operation: op(4)))
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.failure == .unknownDevice)
    }

    /// An agent's own request for this pairing is its consent; a request for another is not.
    @Test(arguments: [nil, "pair", "pair another", "unpair another"])
    func consentIsGivenUnaskedOnlyToThePairingThatTheAgentAskedFor(inFlight: String?) async throws {
        let fixture = try await SecureFixture(agent: .noInputNoOutput)
        let other = try fixture.emulator.add(
            PeripheralDescription(
                name: "Other", advertising: [AdvertisingDescription(AdvertisingData(localName: "Other"))]))
        let another = try await fixture.central.find(other)
        let link = try await fixture.central.connect(fixture.device)
        let id = try await fixture.central.attributes(link).characteristic(SecureFixture.secret)
        switch inFlight {
        case "pair": fixture.agent.submit(.pair(peer: try fixture.peer, operation: op(3)))
        case "pair another":
            other.setAdvertising(false)
            fixture.agent.submit(.pair(peer: another, operation: op(3)))
        case "unpair another":
            fixture.emulator.host.bond(with: other)
            fixture.agent.submit(.unpair(peer: another, operation: op(3)))
        default: break
        }
        fixture.central.submit(.request(link: link, operation: op(1), .read(id)))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect((fixture.question == .consent) == (inFlight != "pair"))
        #expect(fixture.emulator.host.isBonded(with: fixture.device) == (inFlight == "pair"))
    }

    @Test func aDeviceKeepsSoManyBonds() async throws {
        let fixture = try await SecureFixture(PairingDescription(maximumBonds: 1), agent: .noInputNoOutput)
        let other = try fixture.emulator.add(HostDescription(name: "other"))
        other.bond(with: fixture.device)
        let link = try await fixture.beginRead()
        #expect(fixture.failure == .tooManyPairedDevices)
        #expect(fixture.central.events.last == SecureFixture.refused(link))
        fixture.device.removeBond(with: other)
        let again = try await fixture.central.attributes(link).characteristic(SecureFixture.secret)
        fixture.central.submit(.request(link: link, operation: op(1), .read(again)))
        try await fixture.emulator.advance(by: .seconds(1))
        try await fixture.answer(.accept)
        #expect(fixture.central.events.last == SecureFixture.value(link))
    }

    @Test func aHostKeepsSoManyBonds() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.maximumBonds = 0
        let fixture = try await SecureFixture(agent: .noInputNoOutput, configuration: configuration)
        _ = try await fixture.beginRead()
        #expect(fixture.failure == .tooManyPairedDevices)
    }

    @Test func aDeviceThatKeepsNothingIsPairedButNotBonded() async throws {
        let fixture = try await SecureFixture(PairingDescription(isBondable: false), agent: .noInputNoOutput)
        let link = try await fixture.beginRead()
        try await fixture.answer(.accept)
        let peer = try fixture.peer
        #expect(fixture.events.last == .paired(peer: peer, operation: nil, isBonded: false))
        #expect(fixture.central.events.last == SecureFixture.value(link))
        #expect(!fixture.emulator.host.isBonded(with: fixture.device))
    }

    @Test func S136_aBondedCentralIsSubscribedAgainWhenItComesBack() async throws {
        let pair = try await ConnectedPair()
        try await pair.subscribe("C0D4")
        let central = try #require(pair.centralID)
        let peer = try #require(pair.device.identifier())
        _ = try await pair.central.run(.disconnect(peer: peer))
        #expect(pair.peripheral.events.last == .unsubscribed(central: central, attribute: attribute(6)))
        let count = pair.peripheral.events.count
        let link = try await pair.central.connect(pair.device)
        #expect(
            pair.peripheral.events(from: count) == [
                .subscribed(central: central, attribute: attribute(6), mtu: 185, notifyCredits: 20)
            ])
        // The central's apps start without subscriptions; no event repeats the enabling.
        let before = pair.central.events.count
        try await pair.peripheral.run(.updateValue(attribute: attribute(6), value: Data([1]), centrals: nil))
        #expect(pair.central.events.count == before)
        let id = try await pair.central.attributes(link).characteristic("C0D4")
        _ = try await pair.central.run(.request(link: link, operation: op(1), .setNotifying(id, true)))
        try await pair.peripheral.run(.updateValue(attribute: attribute(6), value: Data([2]), centrals: nil))
        #expect(pair.central.events.last == .valueNotified(link: link, attribute: id, value: Data([2])))
    }

    @Test func S101_aBondedCentralHearsOfWhatChangedWhileItWasAway() async throws {
        let fixture = try await SecureFixture(configuration: .default)
        fixture.emulator.host.bond(with: fixture.device)
        let first = try await fixture.central.connect(fixture.device)
        let old = try await fixture.central.attributes(first).service("C0DE")
        try await disconnect(fixture)
        fixture.device.removeService("C0DE")
        try fixture.device.addService(ServiceDescription("C0DF"))
        let count = fixture.central.events.count
        let link = try await fixture.central.connect(fixture.device)
        let changes = fixture.central.events(from: count).compactMap { event -> ([AttributeID], [BluetoothUUID])? in
            if case .servicesChanged(link, let removed, let added) = event { (removed, added.map(\.uuid)) } else { nil }
        }
        #expect(changes.count == 1)
        #expect(changes.first?.0 == [old])
        #expect(changes.first?.1 == ["C0DF"])
        #expect(try await fixture.central.attributes(link).services.map(\.uuid) == ["C0DF"])
    }

    @Test func aBondedHostDiscoversFromItsMemory() async throws {
        let fixture = try await SecureFixture(configuration: .slow)
        func discovery() async throws -> Duration {
            let link = try await fixture.central.connect(fixture.device)
            let start = fixture.emulator.now
            _ = try await fixture.central.attributes(link)
            let spent = fixture.emulator.now - start
            try await disconnect(fixture)
            return spent
        }
        fixture.emulator.host.bond(with: fixture.device)
        let first = try await discovery()
        let second = try await discovery()
        #expect(first > .milliseconds(400))
        #expect(second <= .milliseconds(400), "\(second)")
    }
}
