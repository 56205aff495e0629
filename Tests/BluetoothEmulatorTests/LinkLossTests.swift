import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct LinkLossTests {
    private func ends(_ events: [CentralEvent]) -> [DisconnectReason] {
        events.compactMap { if case .disconnected(_, let reason, _, _, _) = $0 { reason } else { nil } }
    }

    @Test func S44_theDeviceClosesTheLink() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let count = fixture.events.count
        device.disconnect()
        try await fixture.emulator.advance(by: .milliseconds(100))
        guard case .disconnected(link, .remote, _, false, _)? = fixture.events(from: count).first else {
            throw Unexpected(fixture.events[count])
        }
        #expect(device.connectionCount == 0)
    }

    @Test func S44_outOfRangeTheLinkDiesAfterTheSupervisionTimeout() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        let count = fixture.events.count
        device.setProximity(.outOfRange)
        try await fixture.emulator.advance(by: .milliseconds(3999))
        #expect(fixture.events.count == count)
        try await fixture.emulator.advance(by: .milliseconds(1))
        #expect(ends(fixture.events(from: count)) == [.timeout])
    }

    @Test func aDeviceThatComesBackInTimeAnswersWhatWasAsked() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let level = try await fixture.attributes(link).characteristic("2A19")
        let count = fixture.events.count
        device.setProximity(.outOfRange)
        fixture.submit(.request(link: link, operation: op(1), .read(level)))
        try await fixture.emulator.advance(by: .seconds(3))
        #expect(fixture.events.count == count)
        device.setProximity(.near)
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(fixture.events(from: count) == [.response(link: link, operation: op(1), .value(Data([0x64])))])
    }

    @Test func aDeviceThatCrashedAdvertisesAndTheCentralNoticesLater() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        let count = fixture.events.count
        device.reset()
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(device.connectionCount == 0)
        #expect(fixture.events.count == count)
        try await fixture.emulator.advance(by: .seconds(3))
        #expect(ends(fixture.events(from: count)) == [.timeout])
        _ = try await fixture.find(device)
        device.reset(staysOnAir: false)
        let packets = fixture.emulator.advertisingPackets
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(fixture.emulator.advertisingPackets == packets)
    }

    @Test func S40_aLocalDisconnectEndsEachLinkOnce() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        let peer = try #require(device.identifier())
        let count = fixture.events.count
        fixture.submit(.disconnect(peer: peer))
        // The device closes the link while the host is closing it.
        device.disconnect()
        fixture.submit(.disconnect(peer: peer))
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(ends(fixture.events(from: count)) == [.local])
    }

    @Test func S48_autoReconnectReportsTheLossAndConnectsAgain() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device, options: ConnectOptions(autoReconnect: true))
        let count = fixture.events.count
        device.disconnect()
        try await fixture.emulator.advance(by: .seconds(10))
        let events = fixture.events(from: count)
        guard case .disconnected(link, .remote, _, true, _)? = events.first,
            case .connected(_, let second, op(9000), _)? = events.dropFirst().first
        else { throw Unexpected(events[0]) }
        #expect(second != link)
    }

    @Test func S37_aConnectFailsWhereItIsMadeToFail() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        device.failNextConnections()
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(
            fixture.events.last
                == .connectFailed(
                    peer: peer, operation: op(1), error: BackendError(.connectionFailed, operation: "connect")))
        _ = try await fixture.connect(device)
        #expect(device.connectionCount == 1)
    }

    @Test func S134_anUnansweredRequestEndsTheLinkAfterThirtySeconds() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let store = try await fixture.attributes(link).characteristic(ContractPeer.uuid("0101"))
        device.holdReads(of: CharacteristicPath(ContractPeer.uuid("0101")))
        let count = fixture.events.count
        fixture.submit(.request(link: link, operation: op(1), .read(store)))
        fixture.submit(.request(link: link, operation: op(2), .readRSSI))
        try await fixture.emulator.advance(by: .milliseconds(29_999))
        #expect(fixture.events.count == count)
        try await fixture.emulator.advance(by: .milliseconds(1))
        #expect(ends(fixture.events(from: count)) == [.timeout])
        #expect(fixture.events.count == count + 1)
    }

    @Test func aRemovedDeviceIsGone() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        let count = fixture.events.count
        device.remove()
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(ends(fixture.events(from: count)) == [.timeout])
        #expect(fixture.emulator.devices.isEmpty)
        device.notify("2A19", value: Data([1]))
        try await fixture.emulator.runUntilIdle()
    }
}
