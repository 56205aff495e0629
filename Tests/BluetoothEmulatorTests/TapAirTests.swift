import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// Tap events of hosts, devices, advertising and connections.
@Suite struct TapAirTests {
    private static let beacon = PeripheralDescription(
        name: "Beacon", address: "C0:00:00:00:00:01",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(localName: "Beacon", manufacturerData: Data([1, 2, 3])),
                scanResponse: AdvertisingData(txPowerLevel: 4), interval: .milliseconds(100), isConnectable: false)
        ])

    private func packets(_ recorder: TapRecorder) -> [TappedAdvertisingPacket] {
        recorder.events.compactMap { event in
            if case .advertising(let packet) = event.kind { packet } else { nil }
        }
    }

    // MARK: Advertising

    @Test func aPacketAndItsScanResponseAreReportedWithThoseWhoReceivedThem() async throws {
        let fixture = Fixture()
        let other = try fixture.emulator.add(HostDescription(name: "other"))
        let device = try fixture.emulator.add(Self.beacon)
        let recorder = TapRecorder(fixture.emulator)
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await fixture.emulator.advance(by: .milliseconds(500))
        let packets = packets(recorder)
        #expect(packets.count == 2 * fixture.emulator.advertisingPackets)
        let (first, response) = (try #require(packets.first), packets[1])
        #expect(first.device == device.number && first.set == 0)
        #expect(first.address == "C0:00:00:00:00:01" && first.address.isRandom)
        #expect(first.data == Self.beacon.advertising[0].data && response.data.txPowerLevel == 4)
        #expect(!first.isScanResponse && response.isScanResponse)
        #expect(!first.isConnectable && !first.isExtended)
        #expect((-75 ... -65).contains(first.rssi) && response.rssi == first.rssi)
        // The other host does not scan.
        #expect(first.receptions.map(\.host) == [fixture.emulator.host.index] && first.missedBy.isEmpty)
        #expect(first.receptions.map(\.peer) == [device.identifier()] && first.receptions == response.receptions)
        #expect(other.index == 1)
    }

    @Test func aPacketThatAHostMissesIsReportedAsMissed() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.advertisingLossRate = 0.5
        let fixture = Fixture(configuration)
        try fixture.emulator.add(Self.beacon)
        let recorder = TapRecorder(fixture.emulator, .advertising)
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await fixture.emulator.advance(by: .seconds(5))
        let advertisements = packets(recorder).filter { !$0.isScanResponse }
        let missed = advertisements.filter { $0.missedBy == [0] && $0.receptions.isEmpty }
        let received = advertisements.filter { $0.receptions.count == 1 && $0.missedBy.isEmpty }
        #expect(advertisements.count == fixture.emulator.advertisingPackets)
        #expect(missed.count > 10 && received.count > 10)
        #expect(missed.count + received.count == advertisements.count)
        // A host that misses the packet sends no scan request.
        #expect(packets(recorder).count == advertisements.count + received.count)
    }

    // MARK: Hosts and devices

    @Test func changesOfAHostAreReported() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let recorder = TapRecorder(emulator, .hosts)
        emulator.host.setPower(false)
        emulator.host.setPlugged(false)
        emulator.host.setPlugged(true)
        emulator.host.setPower(true)
        emulator.host.reset(for: .seconds(1))
        emulator.host.rotateAddress()
        try await emulator.advance(by: .seconds(2))
        try emulator.add(HostDescription(name: "phone"))
        let hosts = recorder.kinds().compactMap { kind -> TappedHost? in
            if case .hostChanged(let host) = kind { host } else { nil }
        }
        #expect(
            hosts.map(\.state) == [
                .poweredOff, .unsupported, .poweredOff, .poweredOn, .resetting, .resetting, .poweredOn,
            ])
        #expect(hosts.map(\.isPlugged) == [true, false, true, true, true, true, true])
        #expect(hosts[4].address == hosts[4].identityAddress && hosts[5].address == emulator.host.airAddress)
        // Changes between two drives are reported at once.
        try await emulator.runUntilIdle()
        guard case .hostAdded(let phone)? = recorder.kinds().last else { throw Unexpected("\(recorder.events)") }
        #expect(phone.index == 1 && phone.name == "phone" && !phone.isAnonymous)
    }

    @Test func devicesAreAddedChangedAndRemoved() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let recorder = TapRecorder(emulator, .devices)
        let device = try emulator.add(ContractPeer.description)
        device.rename("Renamed")
        device.setProximity(.far)
        device.setAdvertising(false)
        device.rotateAddress()
        device.removeService("180F")
        device.remove()
        try await emulator.runUntilIdle()
        let kinds = recorder.kinds()
        guard case .deviceAdded(let added)? = kinds.first,
            case .servicesChanged(device.number, let services) = kinds[1],
            case .servicesChanged(device.number, let left) = kinds[6]
        else { throw Unexpected("\(kinds)") }
        #expect(added.host == nil && added.address == "F0:F1:F2:F3:F4:F5" && added.advertising.count == 1)
        let changes = kinds[2...5].compactMap { kind -> TappedDevice? in
            if case .deviceChanged(let device) = kind { device } else { nil }
        }
        #expect(changes.map(\.name) == ["Renamed", "Renamed", "Renamed", "Renamed"])
        #expect(changes.map(\.proximity) == [.near, .far, .far, .far])
        #expect(changes.map { $0.advertising.map(\.isEnabled) } == [[true], [true], [false], [false]])
        #expect(changes[3].address != added.address && changes[3].identityAddress == added.address)
        #expect(left.count == services.count - 1)
        #expect(kinds.last == .deviceRemoved(device: device.number))
    }

    @Test func theServicesOfADeviceAreReportedWithTheirHandles() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let recorder = TapRecorder(emulator, .devices)
        try emulator.add(ContractPeer.description)
        try await emulator.runUntilIdle()
        guard case .servicesChanged(_, let services)? = recorder.kinds().last else {
            throw Unexpected("\(recorder.events)")
        }
        // 1800 has the handles 1...3, 1801 has 4...7.
        #expect(services.prefix(3).map(\.handles) == [1...3, 4...7, 8...10])
        #expect(services.map(\.isPrimary) == [true, true, false, true, true, true, true, true])
        let battery = services[3]
        #expect(battery.handles == 11...14)
        #expect(battery.characteristics.map(\.declarationHandle) == [12])
        #expect(battery.characteristics.map(\.valueHandle) == [13])
        #expect(battery.characteristics[0].properties == [.read, .notify])
        #expect(battery.characteristics[0].descriptors == [TappedDescriptor(handle: 14, uuid: "2902")])
        let main = services[4]
        #expect(main.included == [.init(handle: 16, handles: 8...10, uuid: ContractPeer.uuid("0002"))])
        #expect(main.characteristics.first?.declarationHandle == 17)
    }

    // MARK: Links

    @Test func aLinkIsReportedFromItsOpeningToItsEndOnBothSides() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        let recorder = TapRecorder(fixture.emulator, .links)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        guard case .connectionOpened(let connection)? = recorder.kinds().first else {
            throw Unexpected("\(recorder.events)")
        }
        #expect(connection.central.host == 0 && connection.central.peer == nil)
        #expect(connection.central.address == fixture.emulator.host.address)
        #expect(connection.peripheral.host == nil && connection.peripheral.peer == device.identifier())
        #expect(connection.peripheral.address == "F0:F1:F2:F3:F4:F5")
        #expect(connection.central.identityAddress == nil && connection.peripheral.identityAddress == nil)
        #expect(connection.parameters == ConnectionParameters(interval: .milliseconds(50)))
        #expect(connection.mtu == 185 && connection.security == .plain && connection.sharedLink == nil)
        let link = connection.link
        device.exchangeMTU(100)
        let wanted = ConnectionParameters(interval: .milliseconds(30), peripheralLatency: 2)
        try device.requestParameters(wanted)
        try await fixture.emulator.runUntilIdle()
        device.disconnect()
        try await fixture.emulator.runUntilIdle()
        #expect(
            recorder.kinds().dropFirst() == [
                .mtuChanged(link: link, mtu: 100), .parametersChanged(link: link, wanted),
                .connectionClosed(link: link, side: .peripheral, .local),
                .connectionClosed(link: link, side: .central, .remote),
            ])
    }

    @Test func eachSideOfALinkThatFallsSilentEndsAtItsOwnTime() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        let recorder = TapRecorder(fixture.emulator, .links)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        let start = fixture.emulator.now
        device.reset()
        try await fixture.emulator.advance(by: .seconds(10))
        let ends = recorder.events.compactMap { event -> (Duration, LinkSide, DisconnectReason)? in
            guard case .connectionClosed(_, let side, let reason) = event.kind else { return nil }
            return (event.time - start, side, reason)
        }
        #expect(ends.map(\.1) == [.peripheral, .central] && ends.map(\.2) == [.timeout, .timeout])
        #expect(ends.map(\.0) == [.zero, .seconds(4)])
    }

    @Test func lostPacketsAndFailedConnectsAreReported() async throws {
        var description = ContractPeer.description
        description.packetLossRate = 0.5
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(description)
        device.failNextConnections(1)
        let recorder = TapRecorder(fixture.emulator, .links)
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(recorder.kinds().first == .connectionFailed(host: 0, peer: peer, .connectionFailed))
        let link = try await fixture.connect(device)
        _ = try await fixture.attributes(link)
        let lost = recorder.kinds().reduce(0) { sum, kind in
            if case .packetsLost(_, let count) = kind { sum + count } else { sum }
        }
        #expect(lost > 5)
    }
}
