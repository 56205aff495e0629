import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// A host's knowledge of its centrals, its bonds and its peers.
@Suite struct HostPeersTests {
    private func host(_ emulator: Emulator, _ name: String = "peripheral 1") throws -> EmulatedHost {
        try #require(emulator.host(named: name))
    }

    // MARK: Centrals

    @Test func aConnectedCentralIsListedWithAddressAndMTU() async throws {
        let pair = try await ConnectedPair()
        try await pair.subscribe("C0D1")
        let serving = try host(pair.emulator)
        let central = try #require(serving.centrals.first)
        #expect(serving.centrals.count == 1)
        #expect(central.peer == pair.centralID)
        #expect(central.address == pair.emulator.host.address)
        #expect(central.mtu == pair.emulator.configuration.maximumMTU)
        #expect(serving.address(of: central.peer) == central.address)
        #expect(pair.emulator.host.centrals.isEmpty)
        pair.device.exchangeMTU(50)
        try await pair.emulator.runUntilIdle()
        #expect(serving.centrals.map(\.mtu) == [50])
    }

    @Test func aHostEndsTheLinkOfACentral() async throws {
        let pair = try await ConnectedPair()
        let serving = try host(pair.emulator)
        let central = try #require(serving.centrals.first)
        let count = pair.central.events.count
        serving.disconnectCentral(central.peer)
        try await pair.emulator.runUntilIdle()
        guard case .disconnected(pair.link, .remote, _, false, _)? = pair.central.events(from: count).first else {
            throw Unexpected("\(pair.central.events(from: count))")
        }
        #expect(serving.centrals.isEmpty)
        // The host still knows the central; ending the link again has no effect.
        #expect(serving.address(of: central.peer) == central.address)
        serving.disconnectCentral(central.peer)
        try await pair.emulator.runUntilIdle()
        #expect(pair.central.events(from: count).count == 1)
    }

    @Test func aHostAsksACentralForSecurityOnce() async throws {
        let pair = try await ConnectedPair()
        let serving = try host(pair.emulator)
        let central = try #require(serving.centrals.first)
        #expect(!serving.isEncrypted(with: central.peer))
        serving.requestSecurity(of: central.peer)
        try await pair.emulator.runUntilIdle()
        #expect(serving.isEncrypted(with: central.peer))
        #expect(serving.bonds.map(\.peer) == [central.peer])
        let count = pair.emulator.trace.count
        serving.requestSecurity(of: central.peer)
        try await pair.emulator.runUntilIdle()
        #expect(pair.emulator.trace.count == count + 1)
    }

    @Test func hostsOfManagersThatNamedNoneAreAnonymous() async throws {
        let pair = try await ConnectedPair()
        #expect(try host(pair.emulator).isAnonymous)
        #expect(!pair.emulator.host.isAnonymous)
    }

    // MARK: Addresses

    @Test func theAddressOfAPeerIsKnownOnceItIsHeard() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let peer = try #require(device.identifier())
        #expect(fixture.emulator.host.address(of: peer) == nil)
        _ = try await fixture.find(device)
        #expect(fixture.emulator.host.address(of: peer) == ContractPeer.description.effectiveAddress)
        fixture.emulator.host.forget(device)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.emulator.host.address(of: peer) == nil)
    }

    @Test(arguments: [
        ("C0:DE:00:00:18:0D", true), ("7F:00:00:00:00:01", true), ("40:00:00:00:00:01", true),
        ("00:11:22:33:44:55", false), ("3F:00:00:00:00:01", false), ("B0:00:00:00:00:01", false),
    ])
    func theTwoHighestBitsDecideWhetherAnAddressIsRandom(text: String, isRandom: Bool) throws {
        let address = try #require(DeviceAddress(text))
        #expect(address.isRandom == isRandom)
    }

    // MARK: Security

    @Test func aBondIsListedWithThePresentAddress() async throws {
        let fixture = try await SecureFixture()
        let host = fixture.emulator.host
        #expect(host.bonds.isEmpty)
        _ = try await fixture.beginRead()
        try await fixture.emulator.runUntilIdle()
        let bond = try #require(host.bonds.first)
        let peer = try fixture.peer
        #expect(bond.peer == peer && !bond.isAuthenticated && bond.address == bond.identityAddress)
        #expect(host.address(of: peer) == bond.address)
        fixture.device.rotateAddress()
        try await fixture.emulator.runUntilIdle()
        let after = try #require(host.bonds.first)
        #expect(after.identityAddress == bond.identityAddress && after.address != bond.address)
        #expect(host.bonds.count == 1)
        #expect(host.address(of: bond.peer) == after.address)
        host.removeBond(with: fixture.device)
        try await fixture.emulator.runUntilIdle()
        #expect(host.bonds.isEmpty)
    }

    @Test func bothHostsOfALinkFindItEncryptedAfterPairing() async throws {
        let pair = try await ConnectedPair()
        let (own, serving) = (pair.emulator.host, try host(pair.emulator))
        let peer = try #require(pair.device.identifier())
        let central = try #require(serving.centrals.first?.peer)
        #expect(!own.isEncrypted(with: peer) && !serving.isEncrypted(with: central))
        let secret = try pair.attributes.characteristic("C0D4")
        pair.central.submit(.request(link: pair.link, operation: op(1), .setNotifying(secret, true)))
        try await pair.emulator.runUntilIdle()
        #expect(own.isEncrypted(with: peer) && serving.isEncrypted(with: central))
        #expect(own.bonds.map(\.peer) == [peer] && serving.bonds.map(\.peer) == [central])
        _ = try await pair.central.run(.disconnect(peer: peer))
        #expect(!own.isEncrypted(with: peer) && !serving.isEncrypted(with: central))
    }

    /// A host's agent is asked whether the host agrees to Just Works, whichever role the host has on the link.
    @Test(arguments: ["default", "peripheral 1"])
    func theAgentOfAHostIsAskedForConsentInJustWorks(name: String) async throws {
        let pair = try await ConnectedPair()
        let agent = try host(pair.emulator, name).makePairing()
        let sink = CollectingSink<PairingEvent>()
        agent.activate(sink)
        agent.submit(.setCapability(.noInputNoOutput))
        let secret = try pair.attributes.characteristic("C0D4")
        pair.central.submit(.request(link: pair.link, operation: op(1), .setNotifying(secret, true)))
        try await pair.emulator.advance(by: .seconds(1))
        guard case .requested(let request, _, .consent)? = sink.events.first else {
            throw Unexpected("\(sink.events)")
        }
        #expect(pair.emulator.hosts.allSatisfy { $0.bonds.isEmpty })
        agent.submit(.answer(request: request, answer: .accept))
        try await pair.emulator.runUntilIdle()
        #expect(pair.central.events.last == .response(link: pair.link, operation: op(1), .notifying(true)))
        #expect(pair.emulator.hosts.allSatisfy { $0.bonds.count == 1 })
    }
}
