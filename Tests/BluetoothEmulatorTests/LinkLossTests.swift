import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct LinkLossTests {
    private func ends(_ events: [CentralEvent]) -> [DisconnectReason] {
        events.compactMap { if case .disconnected(_, let reason, _, _) = $0 { reason } else { nil } }
    }

    /// Proves S44.
    @Test func S44_theDeviceClosesTheLink() async throws {
        let stage = Stage(.default)
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let link = try await stage.connect(device)
        let count = stage.events.count
        device.disconnect()
        try await stage.emulator.advance(by: .milliseconds(100))
        guard case .disconnected(link, .remote, _, false)? = stage.events(from: count).first else {
            throw Unexpected(stage.events[count])
        }
        #expect(device.connectionCount == 0)
    }

    /// Proves S44.
    @Test func S44_outOfRangeTheLinkDiesAfterTheSupervisionTimeout() async throws {
        let stage = Stage(.default)
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        _ = try await stage.connect(device)
        let count = stage.events.count
        device.setProximity(.outOfRange)
        try await stage.emulator.advance(by: .milliseconds(3999))
        #expect(stage.events.count == count)
        try await stage.emulator.advance(by: .milliseconds(1))
        #expect(ends(stage.events(from: count)) == [.timeout])
    }

    @Test func aDeviceThatComesBackInTimeAnswersWhatWasAsked() async throws {
        let stage = Stage(.default)
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let link = try await stage.connect(device)
        let level = try await stage.attributes(link).characteristic("2A19")
        let count = stage.events.count
        device.setProximity(.outOfRange)
        stage.submit(.read(link: link, operation: op(1), attribute: level))
        try await stage.emulator.advance(by: .seconds(3))
        #expect(stage.events.count == count)
        device.setProximity(.near)
        try await stage.emulator.advance(by: .seconds(10))
        #expect(stage.events(from: count) == [.valueRead(link: link, operation: op(1), value: Data([0x64]))])
    }

    @Test func aDeviceThatCrashedAdvertisesAndTheCentralNoticesLater() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        _ = try await stage.connect(device)
        let count = stage.events.count
        device.reset()
        try await stage.emulator.advance(by: .seconds(1))
        #expect(device.connectionCount == 0)
        #expect(stage.events.count == count)
        try await stage.emulator.advance(by: .seconds(3))
        #expect(ends(stage.events(from: count)) == [.timeout])
        _ = try await stage.find(device)
        device.reset(staysOnAir: false)
        let packets = stage.emulator.advertisingPackets
        stage.submit(.startScan(ScanParameters()))
        try await stage.emulator.advance(by: .seconds(10))
        #expect(stage.emulator.advertisingPackets == packets)
    }

    /// Proves S40.
    @Test func S40_aLocalDisconnectEndsEachLinkOnce() async throws {
        let stage = Stage(.default)
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        _ = try await stage.connect(device)
        let peer = try #require(device.identifier())
        let count = stage.events.count
        stage.submit(.disconnect(peer: peer))
        // The device closes the link while it is going down.
        device.disconnect()
        stage.submit(.disconnect(peer: peer))
        try await stage.emulator.advance(by: .seconds(10))
        #expect(ends(stage.events(from: count)) == [.local])
    }

    /// Proves S48.
    @Test func S48_autoReconnectTellsTheLossAndConnectsAgain() async throws {
        let stage = Stage(.default)
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let link = try await stage.connect(device, options: ConnectOptions(autoReconnect: true))
        let count = stage.events.count
        device.disconnect()
        try await stage.emulator.advance(by: .seconds(10))
        let told = stage.events(from: count)
        guard case .disconnected(link, .remote, _, true)? = told.first,
            case .connected(_, let second, op(9000), _)? = told.dropFirst().first
        else { throw Unexpected(told[0]) }
        #expect(second != link)
    }

    /// Proves S37.
    @Test func S37_aConnectFailsWhereItIsMadeToFail() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let peer = try await stage.find(device)
        device.failNextConnections()
        stage.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await stage.emulator.advance(by: .seconds(1))
        #expect(
            stage.events.last
                == .connectFailed(
                    peer: peer, operation: op(1), error: BackendError(.connectionFailed, operation: "connect")))
        _ = try await stage.connect(device)
        #expect(device.connectionCount == 1)
    }

    /// Proves S134.
    @Test func S134_anUnansweredRequestEndsTheLinkAfterThirtySeconds() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        let link = try await stage.connect(device)
        let store = try await stage.attributes(link).characteristic(ContractPeer.uuid("0101"))
        device.holdReads(of: CharacteristicPath(ContractPeer.uuid("0101")))
        let count = stage.events.count
        stage.submit(.read(link: link, operation: op(1), attribute: store))
        stage.submit(.readRSSI(link: link, operation: op(2)))
        try await stage.emulator.advance(by: .milliseconds(29_999))
        #expect(stage.events.count == count)
        try await stage.emulator.advance(by: .milliseconds(1))
        #expect(ends(stage.events(from: count)) == [.timeout])
        #expect(stage.events.count == count + 1)
    }

    @Test func aRemovedDeviceIsGone() async throws {
        let stage = Stage()
        let device = try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        _ = try await stage.connect(device)
        let count = stage.events.count
        device.remove()
        try await stage.emulator.advance(by: .seconds(10))
        #expect(ends(stage.events(from: count)) == [.timeout])
        #expect(stage.emulator.devices.isEmpty)
        device.notify("2A19", value: Data([1]))
        try await stage.emulator.runUntilIdle()
    }
}
