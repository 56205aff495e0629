import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// The effect of each hostile device on a central.
@Suite struct HostileDeviceTests {
    @Test func theMTUChangesWhenNobodyExpectsIt() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(.oddMTU)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        try await fixture.emulator.advance(by: .seconds(4))
        let mtus = fixture.events.compactMap { event -> Int? in
            switch event {
            case .connected(_, link, _, let parameters): parameters.mtu
            case .mtuChanged(link, let mtu): mtu
            default: nil
            }
        }
        // The host offers 185.
        #expect(mtus == [27, 24, 185, 23])
    }

    @Test func aReadIsNeverAnsweredAndEndsTheLinkAfter30Seconds() async throws {
        let fixture = try await DeviceFixture(.neverAnswers)
        let start = fixture.emulator.now
        #expect(try await fixture.read("FFF1") == .ended(.timeout))
        #expect(fixture.emulator.now - start == .seconds(30))
    }

    @Test func aDiscoveryIsNeverAnsweredAndEndsTheLinkAfter30Seconds() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.neverDiscovered)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let start = fixture.emulator.now
        let events = try await fixture.run(.request(link: link, operation: op(1), .discoverServices(nil)))
        guard events.count == 1, case .disconnected(link, .timeout, _, _, _) = events[0] else {
            throw Unexpected("\(events)")
        }
        #expect(fixture.emulator.now - start == .seconds(30))
    }

    @Test func aValueComesBeforeTheConfirmationOfItsSubscription() async throws {
        let fixture = try await DeviceFixture(.notifiesTooEarly)
        #expect(
            fixture.emulator.trace.contains {
                $0.text.hasSuffix("notification of FFF1 dropped: no app subscribes to it")
            })
        let attribute = try fixture.found.characteristic("FFF1")
        let events = try await fixture.fixture.run(
            .request(link: fixture.link, operation: op(1), .setNotifying(attribute, true)))
        #expect(
            events == [
                .valueNotified(link: fixture.link, attribute: attribute, value: Data("B".utf8)),
                .response(link: fixture.link, operation: op(1), .notifying(true)),
            ])
    }

    @Test func thousandsOfServicesAreDiscovered() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.endlessServices)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let events = try await fixture.run(.request(link: link, operation: op(1), .discoverServices(nil)))
        guard case .response(_, _, .services(let services))? = events.first else { throw Unexpected("\(events.count)") }
        #expect(services.count == 2_000)
        let found = try await fixture.run(
            .request(link: link, operation: op(2), .discoverCharacteristics(of: services[1_999].id, nil)))
        guard case .response(_, _, .characteristics(let last))? = found.first else { throw Unexpected("\(found)") }
        #expect(last.count == 15)
        #expect(last.last?.handle == 62_007)
    }

    @Test func moreServicesThanHandlesAreRefused() {
        let error = #expect(throws: DescriptionError.self) {
            try PeripheralDescription.endlessServices(30_000, characteristics: 1).validate()
        }
        #expect(error?.rule == "a device has at most 65535 attributes")
    }

    @Test func eachMalformedValueIsReadInTurn() async throws {
        let fixture = try await DeviceFixture(.malformedValues)
        for entry in MalformedValuesHandler.catalogue {
            for (uuid, values) in entry.values {
                for value in values + values.prefix(1) {
                    #expect(try await fixture.read(uuid) == .value(value), "\(uuid)")
                }
            }
        }
        try await fixture.subscribe("2A37")
        #expect(try await fixture.values("2A37", for: .seconds(3)) == [[0x00], [0x01, 60], [0x08, 60, 1]])
    }

    @Test func theLinkEndsAtOnce() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.disconnectsAtOnce)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        guard case .disconnected(link, .remote, _, _, _)? = fixture.events.last else {
            throw Unexpected("\(fixture.events)")
        }
    }

    @Test func theLinkEndsInMidDiscovery() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.disconnectsInDiscovery)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let events = try await fixture.run(.request(link: link, operation: op(1), .discoverServices(nil)))
        guard case .response(_, _, .services(let services))? = events.first else { throw Unexpected("\(events)") }
        let rest = try await fixture.run(
            .request(link: link, operation: op(2), .discoverCharacteristics(of: services[0].id, nil)))
        guard rest.count == 1, case .disconnected(link, .remote, _, _, _) = rest[0] else { throw Unexpected("\(rest)") }
    }

    @Test func theLinkEndsInMidRead() async throws {
        let fixture = try await DeviceFixture(.disconnectsInRead)
        #expect(try await fixture.write("FFF1", [9]) == .written)
        #expect(try await fixture.read("FFF1") == .ended(.remote))
    }

    @Test func equalUUIDsHaveValuesOfTheirOwn() async throws {
        let fixture = try await DeviceFixture(.equalUUIDs)
        #expect(fixture.found.services.map(\.uuid) == ["FFF0", "FFF0", "FFF0"])
        for index in 0..<9 {
            #expect(try await fixture.read("FFF1", index) == .value(Data([UInt8(index / 3), UInt8(index % 3)])))
        }
    }

    @Test func aNameThatIsNoTextIsShownAllTheSame() async throws {
        let fixture = try await DeviceFixture(.strangeName)
        let names = fixture.fixture.events.compactMap { event -> String? in
            if case .nameChanged(_, let name, .gap) = event { name } else { nil }
        }
        #expect(names.count == 1)
        #expect(names.first?.unicodeScalars.allSatisfy { $0 == "\u{FFFD}" } == true)
        let advertised = fixture.fixture.events.compactMap { event -> String? in
            if case .discovered(let discovery) = event { discovery.advertisement.localName } else { nil }
        }
        #expect(advertised == ["\u{202E}Strange\r\n\u{7}\u{0}Name"])
    }

    @Test func valuesOfNoBytesAreValues() async throws {
        let fixture = try await DeviceFixture(.emptyValues)
        #expect(fixture.found.services.map(\.uuid) == ["FFEF", "FFF0"])
        #expect(try await fixture.read("FFF1") == .value(Data()))
        try await fixture.subscribe("FFF1")
        #expect(try await fixture.values("FFF1", for: .seconds(2)) == [[], []])
        let first = fixture.fixture.events.compactMap { event -> Advertisement? in
            if case .discovered(let discovery) = event { discovery.advertisement } else { nil }
        }.first
        #expect(first?.manufacturerData == Data())
        #expect(first?.serviceData == ["FFF0": Data()])
    }

    @Test func theServicesChangeTenTimesASecond() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.changingServices)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let count = fixture.events.count
        try await fixture.emulator.advance(by: .seconds(2))
        let changes = fixture.events(from: count).compactMap { event -> (removed: Int, added: [ServiceRecord])? in
            if case .servicesChanged(link, let removed, let added) = event { (removed.count, added) } else { nil }
        }
        #expect(changes.count == 20)
        #expect(changes.allSatisfy { $0.removed + $0.added.count == 1 })
        // A removed attribute cannot be read.
        let old = try #require(changes.compactMap(\.added.first).first)
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .discoverCharacteristics(of: old.id, nil)))
        guard events.contains(where: { $0.kind == .operationFailed }) else { throw Unexpected("\(events)") }
    }
}
