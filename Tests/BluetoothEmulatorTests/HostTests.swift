import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct HostTests {
    @Test func S12_powerOffReportsTheStateAndNoDisconnect() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let level = try await fixture.attributes(link).characteristic("2A19")
        let count = fixture.events.count
        fixture.emulator.host.setPower(false)
        fixture.submit(.request(link: link, operation: op(1), .read(level)))
        try await fixture.emulator.advance(by: .seconds(60))
        #expect(fixture.events(from: count) == [.stateChanged(.poweredOff)])
        #expect(device.connectionCount == 0)
        fixture.emulator.host.setPower(true)
        try await fixture.emulator.advance(by: .seconds(60))
        #expect(fixture.events(from: count + 1) == [.stateChanged(.poweredOn)])
    }

    @Test func S13_pendingConnectsAndScansDoNotSurvivePowerOff() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        device.setAdvertising(false)
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .seconds(1))
        let count = fixture.events.count
        fixture.emulator.host.setPower(false)
        fixture.emulator.host.setPower(true)
        device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(fixture.events(from: count) == [.stateChanged(.poweredOff), .stateChanged(.poweredOn)])
    }

    @Test func S7_aResetIsReportedAndPasses() async throws {
        let fixture = Fixture()
        try await fixture.powerOn()
        fixture.emulator.host.reset(for: .seconds(2))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(fixture.events.last == .stateChanged(.resetting))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(fixture.events.last == .stateChanged(.poweredOn))
    }

    @Test func S8_aDeniedPermissionShowsAsUnauthorized() async throws {
        let fixture = Fixture()
        try await fixture.powerOn()
        fixture.emulator.host.setAuthorization(.denied)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.events.suffix(2) == [.authorizationChanged(.denied), .stateChanged(.unauthorized)])
        #expect(fixture.emulator.authorization() == .denied)
    }

    @Test func aMissingAdapterIsUnsupported() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let fixture = Fixture(host: "nowhere", emulator: emulator)
        fixture.central.activate(fixture.sink)
        try await emulator.runUntilIdle()
        #expect(fixture.events == [.stateChanged(.unsupported)])
        let other = Fixture(emulator: emulator)
        try await other.powerOn()
        emulator.host.setPlugged(false)
        try await emulator.runUntilIdle()
        #expect(other.events.last == .stateChanged(.unsupported))
    }

    @Test func S28_anotherHostKnowsADeviceByAnotherIdentifier() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let device = try emulator.add(ContractPeer.description)
        try emulator.add(HostDescription(name: "second"))
        #expect(device.identifier() != device.identifier(onHost: "second"))
        let again = Emulator(configuration: .instant, time: .virtual, seed: 99)
        #expect(try again.add(ContractPeer.description).identifier() == device.identifier())
        device.changeAddress("F0:00:00:00:00:01")
        try await emulator.runUntilIdle()
        #expect(try again.devices.first.map { try #require($0.identifier()) } != device.identifier())
    }

    @Test func S38_aSecondManagerGetsItsShareOfAnOpenLinkAtOnce() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let first = try await fixture.connect(device)
        let other = Fixture(emulator: fixture.emulator)
        try await other.powerOn()
        let peer = try #require(device.identifier())
        #expect(other.central.connectedPeers(offering: ["180F"]).map(\.id) == [peer])
        #expect(other.central.connectedPeers(offering: ["180D"]).isEmpty)
        let events = try await other.run(.connect(peer: peer, operation: op(5), options: ConnectOptions()))
        guard case .connected(peer, let second, op(5), _)? = events.first else { throw Unexpected(events[0]) }
        #expect(device.connectionCount == 1)
        // One manager releases the link; the other keeps it.
        let count = fixture.events.count
        fixture.submit(.disconnect(peer: peer))
        try await fixture.emulator.advance(by: .seconds(1))
        guard case .disconnected(first, .local, _, false, _)? = fixture.events(from: count).first else {
            throw Unexpected(fixture.events[count])
        }
        #expect(device.connectionCount == 1)
        #expect(try await other.run(.request(link: second, operation: op(6), .readRSSI)).count == 1)
        #expect(try await fixture.run(.request(link: first, operation: op(7), .readRSSI)).isEmpty)
    }

    @Test func S54_aLinkOfAnotherAppIsRetrievedAndShared() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        fixture.emulator.host.connectOtherApp(to: device)
        try await fixture.emulator.advance(until: { device.connectionCount == 1 })
        let peer = try #require(device.identifier())
        #expect(fixture.central.connectedPeers(offering: [ContractPeer.uuid("0001")]).map(\.id) == [peer])
        let events = try await fixture.run(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        guard case .connected(peer, _, op(1), _)? = events.first else { throw Unexpected(events[0]) }
        fixture.submit(.disconnect(peer: peer))
        try await fixture.emulator.runUntilIdle()
        #expect(device.connectionCount == 1)
        fixture.emulator.host.disconnectOtherApp(from: device)
        try await fixture.emulator.runUntilIdle()
        #expect(device.connectionCount == 0)
    }

    @Test func S155_connectionsOfMatchingPeersAreReported() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let peer = try #require(device.identifier())
        fixture.submit(.setConnectionEventFilter(ConnectionEventFilter(services: ["180F"])))
        fixture.emulator.host.connectOtherApp(to: device)
        try await fixture.emulator.advance(until: { device.connectionCount == 1 })
        fixture.emulator.host.disconnectOtherApp(from: device)
        try await fixture.emulator.advance(until: { device.connectionCount == 0 })
        let events = fixture.events.filter { if case .connectionEvent = $0 { true } else { false } }
        #expect(events == [true, false].map { .connectionEvent(peer: peer, isConnected: $0) })
    }

    @Test func S52_rememberedDevicesAreKnownAndForgottenOnesAreNot() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let peer = try #require(device.identifier())
        #expect(fixture.central.knownPeers([peer]).isEmpty)
        fixture.emulator.host.remember(device)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.central.knownPeers([peer]).map(\.address) == ["F0:F1:F2:F3:F4:F5"])
        fixture.emulator.host.forget(device)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.central.knownPeers([peer]).isEmpty)
        #expect(fixture.events.last == .peerForgotten(peer: peer))
    }

    @Test func S16_anInvalidatedManagerLetsGoInSilence() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        let count = fixture.events.count
        fixture.central.invalidate()
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(fixture.events.count == count)
        #expect(device.connectionCount == 0)
    }

    @Test func aPeripheralManagerOfAMissingHostIsUnsupported() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let fixture = PeripheralFixture(emulator, host: "nowhere")
        fixture.peripheral.activate(fixture.sink)
        try await fixture.run(.addService(operation: op(1), service: PeripheralFixture.service))
        #expect(fixture.events == [.stateChanged(.unsupported)])
    }
}
