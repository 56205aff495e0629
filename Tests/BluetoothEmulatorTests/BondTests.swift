import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// What is kept of a pairing, and how it is lost.
@Suite struct BondTests {
    private func disconnect(_ stage: SecureStage) async throws {
        _ = try await stage.central.run(.disconnect(peer: try stage.peer))
    }

    private func connect(_ stage: SecureStage, within limit: Duration = .seconds(60)) async throws -> CentralEvent {
        let peer = try stage.peer
        let count = stage.central.events.count
        stage.central.submit(.connect(peer: peer, operation: op(9), options: ConnectOptions()))
        try await stage.emulator.advance(until: { stage.central.events.count > count }, within: limit)
        return try #require(stage.central.events(from: count).first)
    }

    @Test func aBondedLinkIsEncryptedFromTheStart() async throws {
        let stage = try await SecureStage(agent: .displayYesNo)
        stage.emulator.host.bond(with: stage.device)
        let link = try await stage.beginRead()
        #expect(stage.central.events.last == SecureStage.value(link))
        #expect(stage.events.isEmpty)
    }

    /// Proves S37.
    @Test func S37_aDeviceThatLostItsKeysFailsTheConnect() async throws {
        let stage = try await SecureStage()
        _ = try await stage.beginRead()
        try await disconnect(stage)
        stage.device.removeBond()
        guard case .connectFailed(_, op(9), let error) = try await connect(stage) else {
            throw Unexpected("\(stage.central.events)")
        }
        #expect(error.code == .peerRemovedPairingInformation)
        // Once the host forgot them too, they pair anew.
        stage.emulator.host.removeBond(with: stage.device)
        let link = try await stage.beginRead()
        #expect(stage.central.events.last == SecureStage.value(link))
    }

    /// Proves S37.
    @Test func S37_aDeviceThatDoesNotEncryptFailsTheConnectAfter40Seconds() async throws {
        let stage = try await SecureStage()
        _ = try await stage.beginRead()
        try await disconnect(stage)
        try stage.device.setPairing(PairingDescription(answer: .ignore))
        let start = stage.emulator.now
        guard case .connectFailed(_, op(9), let error) = try await connect(stage) else {
            throw Unexpected("\(stage.central.events)")
        }
        #expect(error.code == .encryptionTimedOut)
        #expect(stage.emulator.now - start >= .seconds(40))
    }

    @Test func aHostThatForgetsEndsTheLinkAndPairsAnew() async throws {
        let stage = try await SecureStage(agent: .noInputNoOutput)
        let first = try await stage.beginRead()
        try await stage.answer(.accept)
        let peer = try stage.peer
        stage.agent.submit(.unpair(peer: peer, operation: op(3)))
        try await stage.emulator.runUntilIdle()
        #expect(stage.events.last == .unpaired(peer: peer, operation: op(3)))
        guard case .disconnected(first, .unknown, _, _)? = stage.central.events.last else {
            throw Unexpected("\(stage.central.events)")
        }
        #expect(!stage.emulator.host.isBonded(with: stage.device))
        // The device still has keys, so it says "insufficient encryption".
        let link = try await stage.beginRead()
        try await stage.answer(.reject)
        #expect(stage.central.events.last == SecureStage.refused(link, 0x0F))
        stage.agent.submit(.unpair(peer: peer, operation: op(4)))
        try await stage.emulator.runUntilIdle()
        #expect(stage.failure == .unknownDevice)
    }

    @Test func aDeviceKeepsSoManyBonds() async throws {
        let stage = try await SecureStage(PairingDescription(maximumBonds: 1), agent: .noInputNoOutput)
        let other = try stage.emulator.add(HostDescription(name: "other"))
        other.bond(with: stage.device)
        let link = try await stage.beginRead()
        #expect(stage.failure == .tooManyPairedDevices)
        #expect(stage.central.events.last == SecureStage.refused(link))
        stage.device.removeBond(with: other)
        let again = try await stage.central.attributes(link).characteristic(SecureStage.secret)
        stage.central.submit(.read(link: link, operation: op(1), attribute: again))
        try await stage.emulator.advance(by: .seconds(1))
        try await stage.answer(.accept)
        #expect(stage.central.events.last == SecureStage.value(link))
    }

    @Test func aHostKeepsSoManyBonds() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.maximumBonds = 0
        let stage = try await SecureStage(agent: .noInputNoOutput, configuration: configuration)
        _ = try await stage.beginRead()
        #expect(stage.failure == .tooManyPairedDevices)
    }

    @Test func aDeviceThatKeepsNothingIsPairedButNotBonded() async throws {
        let stage = try await SecureStage(PairingDescription(isBondable: false), agent: .noInputNoOutput)
        let link = try await stage.beginRead()
        try await stage.answer(.accept)
        let peer = try stage.peer
        #expect(stage.events.last == .paired(peer: peer, operation: nil, isBonded: false))
        #expect(stage.central.events.last == SecureStage.value(link))
        #expect(!stage.emulator.host.isBonded(with: stage.device))
    }

    /// Proves S136.
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
        // The central's apps start without subscriptions; enabling is told to nobody twice.
        let before = pair.central.events.count
        try await pair.peripheral.run(.updateValue(attribute: attribute(6), value: Data([1]), centrals: nil))
        #expect(pair.central.events.count == before)
        let id = try await pair.central.attributes(link).characteristic("C0D4")
        _ = try await pair.central.run(.setNotifying(link: link, operation: op(1), attribute: id, enabled: true))
        try await pair.peripheral.run(.updateValue(attribute: attribute(6), value: Data([2]), centrals: nil))
        #expect(pair.central.events.last == .valueNotified(link: link, attribute: id, value: Data([2])))
    }

    /// Proves S101.
    @Test func S101_aBondedCentralHearsOfWhatChangedWhileItWasAway() async throws {
        let stage = try await SecureStage(configuration: .default)
        stage.emulator.host.bond(with: stage.device)
        let first = try await stage.central.connect(stage.device)
        let old = try await stage.central.attributes(first).service("C0DE")
        try await disconnect(stage)
        stage.device.removeService("C0DE")
        try stage.device.addService(ServiceDescription("C0DF"))
        let count = stage.central.events.count
        let link = try await stage.central.connect(stage.device)
        let changes = stage.central.events(from: count).compactMap { event -> ([AttributeID], [BluetoothUUID])? in
            if case .servicesChanged(link, let removed, let added) = event { (removed, added.map(\.uuid)) } else { nil }
        }
        #expect(changes.count == 1)
        #expect(changes.first?.0 == [old])
        #expect(changes.first?.1 == ["C0DF"])
        #expect(try await stage.central.attributes(link).services.map(\.uuid) == ["C0DF"])
    }

    @Test func aBondedHostDiscoversFromItsMemory() async throws {
        let stage = try await SecureStage(configuration: .slow)
        func discovery() async throws -> Duration {
            let link = try await stage.central.connect(stage.device)
            let start = stage.emulator.now
            _ = try await stage.central.attributes(link)
            let spent = stage.emulator.now - start
            try await disconnect(stage)
            return spent
        }
        stage.emulator.host.bond(with: stage.device)
        let first = try await discovery()
        let second = try await discovery()
        #expect(first > .milliseconds(400))
        #expect(second <= .milliseconds(400), "\(second)")
    }
}
