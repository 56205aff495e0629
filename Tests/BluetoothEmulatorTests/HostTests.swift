import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct HostTests {
    /// Proves S12.
    @Test func S12_powerOffTellsTheStateAndNoDisconnect() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let link = try await stage.connect(device)
        let level = try await stage.attributes(link).characteristic("2A19")
        let count = stage.events.count
        stage.emulator.host.setPower(false)
        stage.submit(.read(link: link, operation: op(1), attribute: level))
        try await stage.emulator.advance(by: .seconds(60))
        #expect(stage.events(from: count) == [.stateChanged(.poweredOff)])
        #expect(device.connectionCount == 0)
        stage.emulator.host.setPower(true)
        try await stage.emulator.advance(by: .seconds(60))
        #expect(stage.events(from: count + 1) == [.stateChanged(.poweredOn)])
    }

    /// Proves S13.
    @Test func S13_pendingConnectsAndScansDoNotSurvivePowerOff() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let peer = try await stage.find(device)
        device.setAdvertising(false)
        stage.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        stage.submit(.startScan(ScanParameters()))
        try await stage.emulator.advance(by: .seconds(1))
        let count = stage.events.count
        stage.emulator.host.setPower(false)
        stage.emulator.host.setPower(true)
        device.setAdvertising(true)
        try await stage.emulator.advance(by: .seconds(10))
        #expect(stage.events(from: count) == [.stateChanged(.poweredOff), .stateChanged(.poweredOn)])
    }

    /// Proves S7.
    @Test func S7_aResetIsToldAndPasses() async throws {
        let stage = Stage()
        try await stage.powerOn()
        stage.emulator.host.reset(for: .seconds(2))
        try await stage.emulator.advance(by: .seconds(1))
        #expect(stage.events.last == .stateChanged(.resetting))
        try await stage.emulator.advance(by: .seconds(1))
        #expect(stage.events.last == .stateChanged(.poweredOn))
    }

    /// Proves S8.
    @Test func S8_aDeniedPermissionShowsAsUnauthorized() async throws {
        let stage = Stage()
        try await stage.powerOn()
        stage.emulator.host.setAuthorization(.denied)
        try await stage.emulator.runUntilIdle()
        #expect(stage.events.suffix(2) == [.authorizationChanged(.denied), .stateChanged(.unauthorized)])
        #expect(stage.emulator.authorization() == .denied)
    }

    @Test func aMissingAdapterIsUnsupported() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let stage = Stage(host: "nowhere", emulator: emulator)
        stage.central.activate(stage.sink)
        try await emulator.runUntilIdle()
        #expect(stage.events == [.stateChanged(.unsupported)])
        let other = Stage(emulator: emulator)
        try await other.powerOn()
        emulator.host.setPlugged(false)
        try await emulator.runUntilIdle()
        #expect(other.events.last == .stateChanged(.unsupported))
    }

    /// Proves S28.
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

    /// Proves S38.
    @Test func S38_aSecondManagerGetsItsShareOfAnOpenLinkAtOnce() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let first = try await stage.connect(device)
        let other = Stage(emulator: stage.emulator)
        try await other.powerOn()
        let peer = try #require(device.identifier())
        #expect(other.central.connectedPeers(offering: ["180F"]).map(\.id) == [peer])
        #expect(other.central.connectedPeers(offering: ["180D"]).isEmpty)
        let told = try await other.run(.connect(peer: peer, operation: op(5), options: ConnectOptions()))
        guard case .connected(peer, let second, op(5), _)? = told.first else { throw Unexpected(told[0]) }
        #expect(device.connectionCount == 1)
        // One lets go; the other keeps the link.
        let count = stage.events.count
        stage.submit(.disconnect(peer: peer))
        try await stage.emulator.advance(by: .seconds(1))
        guard case .disconnected(first, .local, _, false)? = stage.events(from: count).first else {
            throw Unexpected(stage.events[count])
        }
        #expect(device.connectionCount == 1)
        #expect(try await other.run(.readRSSI(link: second, operation: op(6))).count == 1)
        #expect(try await stage.run(.readRSSI(link: first, operation: op(7))).isEmpty)
    }

    /// Proves S54.
    @Test func S54_aLinkOfAnotherAppIsRetrievedAndShared() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        stage.emulator.host.connectOtherApp(to: device)
        try await stage.emulator.advance(until: { device.connectionCount == 1 })
        let peer = try #require(device.identifier())
        #expect(stage.central.connectedPeers(offering: [ContractPeer.uuid("0001")]).map(\.id) == [peer])
        let told = try await stage.run(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        guard case .connected(peer, _, op(1), _)? = told.first else { throw Unexpected(told[0]) }
        stage.submit(.disconnect(peer: peer))
        try await stage.emulator.runUntilIdle()
        #expect(device.connectionCount == 1)
        stage.emulator.host.disconnectOtherApp(from: device)
        try await stage.emulator.runUntilIdle()
        #expect(device.connectionCount == 0)
    }

    /// Proves S155.
    @Test func S155_connectionsOfMatchingPeersAreTold() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let peer = try #require(device.identifier())
        stage.submit(.setConnectionEventFilter(ConnectionEventFilter(services: ["180F"])))
        stage.emulator.host.connectOtherApp(to: device)
        try await stage.emulator.advance(until: { device.connectionCount == 1 })
        stage.emulator.host.disconnectOtherApp(from: device)
        try await stage.emulator.advance(until: { device.connectionCount == 0 })
        let told = stage.events.filter { if case .connectionEvent = $0 { true } else { false } }
        #expect(told == [true, false].map { .connectionEvent(peer: peer, isConnected: $0) })
    }

    /// Proves S52.
    @Test func S52_rememberedDevicesAreKnownAndForgottenOnesAreNot() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let peer = try #require(device.identifier())
        #expect(stage.central.knownPeers([peer]).isEmpty)
        stage.emulator.host.remember(device)
        try await stage.emulator.runUntilIdle()
        #expect(stage.central.knownPeers([peer]).map(\.address) == ["F0:F1:F2:F3:F4:F5"])
        stage.emulator.host.forget(device)
        try await stage.emulator.runUntilIdle()
        #expect(stage.central.knownPeers([peer]).isEmpty)
        #expect(stage.events.last == .peerForgotten(peer: peer))
    }

    /// Proves S16.
    @Test func S16_anInvalidatedManagerLetsGoInSilence() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        _ = try await stage.connect(device)
        let count = stage.events.count
        stage.central.invalidate()
        try await stage.emulator.advance(by: .seconds(1))
        #expect(stage.events.count == count)
        #expect(device.connectionCount == 0)
    }

    @Test func aPeripheralManagerOfAMissingHostIsUnsupported() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let stage = PeripheralStage(emulator, host: "nowhere")
        stage.peripheral.activate(stage.sink)
        try await stage.run(.addService(operation: op(1), service: PeripheralStage.service))
        #expect(stage.events == [.stateChanged(.unsupported)])
    }
}
