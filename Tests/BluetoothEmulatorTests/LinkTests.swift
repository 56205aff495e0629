import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct LinkTests {
    @Test func S36_connectWaitsForAPacketAndReportsTheNegotiatedMTU() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        device.setAdvertising(false)
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1000))
        #expect(device.connectionCount == 0)
        device.setAdvertising(true)
        try await fixture.wait { event in
            if case .connected(peer, _, op(1), let parameters) = event {
                parameters == LinkParameters(mtu: 185, writeCredits: 20)
            } else {
                false
            }
        }
        #expect(device.connectionCount == 1)
    }

    @Test func S100_theNameIsReadAfterConnecting() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        let peer = try #require(device.identifier())
        let tail = fixture.events.suffix(2)
        guard case .connected? = tail.first else { return #expect(Bool(false), "\(tail)") }
        #expect(tail.last == .nameChanged(peer: peer, name: "Contract Peer", source: .gap))
        #expect(fixture.central.knownPeers([peer]).first?.name == "Contract Peer")
    }

    @Test func S99_S100_aScanThatGoesOnReportsTheNameThatWasRead() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(
            PeripheralDescription(
                name: "Long Name", advertising: [AdvertisingDescription(AdvertisingData(localName: "Short"))]))
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await fixture.emulator.advance(by: .seconds(1))
        func names() -> [String?] {
            fixture.events.compactMap { event in
                if case .discovered(let discovery) = event { discovery.name } else { nil }
            }
        }
        #expect(names().last == "Short")
        let peer = try #require(device.identifier())
        fixture.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(fixture.events.contains(.nameChanged(peer: peer, name: "Long Name", source: .gap)))
        device.disconnect()
        let count = names().count
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(names().count > count && names().last == "Long Name")
    }

    @Test func S58_genericServicesAreNotDiscovered() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let found = try await fixture.attributes(link)
        #expect(
            found.services.map(\.uuid) == [
                "180F", ContractPeer.uuid("0001"), ContractPeer.uuid("0003"), ContractPeer.uuid("0003"),
                ContractPeer.uuid("0004"),
            ])
        #expect(found.services.map(\.id) == found.services.map(\.id).sorted())
    }

    @Test func S71_aLongValueIsReadWholeAndTakesOneIntervalForEachRequest() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let id = try await fixture.attributes(link).characteristic(ContractPeer.uuid("0106"))
        let count = fixture.events.count
        let start = fixture.emulator.now
        fixture.submit(.request(link: link, operation: op(1), .read(id)))
        try await fixture.emulator.advance(until: { fixture.events.count > count })
        #expect(fixture.events.last == .response(link: link, operation: op(1), .value(ContractPeer.long)))
        // 300 bytes at an MTU of 185: Read and one Read Blob, after the next connection event.
        let spent = fixture.emulator.now - start
        #expect(spent >= .milliseconds(100) && spent < .milliseconds(150), "\(spent)")
    }

    @Test func S66_answersComeInTheOrderOfTheCommands() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let found = try await fixture.attributes(link)
        let first = try found.characteristic(ContractPeer.uuid("010B"))
        let second = try found.characteristic(ContractPeer.uuid("010B"), 1)
        let store = try found.characteristic(ContractPeer.uuid("0101"))
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .read(first)),
            .request(link: link, operation: op(2), .write(store, Data([9]))),
            .request(link: link, operation: op(3), .read(second)),
            .request(link: link, operation: op(4), .readRSSI),
            .request(link: link, operation: op(5), .read(store)))
        try #require(events.count == 5)
        #expect(events[0] == .response(link: link, operation: op(1), .value(Data([1]))))
        #expect(events[1] == .response(link: link, operation: op(2), .written))
        #expect(events[2] == .response(link: link, operation: op(3), .value(Data([2]))))
        guard case .response(link, op(4), .rssi) = events[3] else { throw Unexpected(events[3]) }
        #expect(events[4] == .response(link: link, operation: op(5), .value(Data([9]))))
    }

    @Test func aDisconnectTakesAConnectionInterval() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(
            PeripheralDescription(
                name: "Slow", advertising: [AdvertisingDescription(AdvertisingData())],
                connectionInterval: .milliseconds(200)))
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        let count = fixture.events.count
        fixture.submit(.disconnect(peer: try #require(device.identifier())))
        try await fixture.emulator.advance(by: .milliseconds(199))
        #expect(fixture.events(from: count).isEmpty)
        try await fixture.emulator.advance(by: .milliseconds(1))
        #expect(fixture.events(from: count).count == 1)
    }

    @Test func S91_notificationsReachSubscribersOnly() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let id = try await fixture.attributes(link).characteristic(ContractPeer.uuid("0103"))
        device.notify("C0DE0103-7A3D-4C5B-9E1F-2B6A8D4C0F01", value: Data([1]))
        #expect(try await fixture.run().isEmpty)
        let events = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(id, true)))
        #expect(events == [.response(link: link, operation: op(1), .notifying(true))])
        #expect(device.subscriberCount(of: "C0DE0103-7A3D-4C5B-9E1F-2B6A8D4C0F01") == 1)
        for value in [2, 2, 3] as [UInt8] {
            device.notify("C0DE0103-7A3D-4C5B-9E1F-2B6A8D4C0F01", value: Data([value]))
        }
        #expect(
            try await fixture.run()
                == [2, 2, 3].map {
                    .valueNotified(link: link, attribute: id, value: Data([$0]))
                })
    }
}
