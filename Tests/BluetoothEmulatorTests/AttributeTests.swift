import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct AttributeTests {
    /// Returns a connected fixture with the discovered attributes.
    private func connected(
        _ configuration: EmulatorConfiguration = .instant,
        _ description: PeripheralDescription = ContractPeer.description
    ) async throws -> (Fixture, EmulatedDevice, LinkID, Attributes) {
        let fixture = Fixture(configuration)
        let device = try fixture.emulator.add(description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        return (fixture, device, link, try await fixture.attributes(link))
    }

    private func codes(_ events: [CentralEvent]) -> [UInt8?] {
        events.map { if case .response(_, _, .failure(let error)) = $0 { error.attCode } else { nil } }
    }

    @Test func S61_includedServicesAreFound() async throws {
        let (fixture, _, link, found) = try await connected()
        let service = try found.service(ContractPeer.uuid("0001"))
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .discoverIncludedServices(of: service, nil)))
        guard case .response(link, op(1), .services(let services))? = events.first else { throw Unexpected(events[0]) }
        #expect(services.map(\.uuid) == [ContractPeer.uuid("0002")])
        #expect(services.map(\.isPrimary) == [false])
    }

    @Test func S62_descriptorsAreFoundWithTheClientConfiguration() async throws {
        let (fixture, _, link, found) = try await connected()
        let described = try found.characteristic(ContractPeer.uuid("010C"))
        let level = try found.characteristic("2A19")
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .discoverDescriptors(of: described)),
            .request(link: link, operation: op(2), .discoverDescriptors(of: level)))
        guard case .response(_, op(1), .descriptors(let three))? = events.first,
            case .response(_, op(2), .descriptors(let one))? = events.last
        else { throw Unexpected(events[0]) }
        #expect(three.map(\.uuid) == ["2901", "2904", ContractPeer.uuid("0D01")])
        #expect(one.map(\.uuid) == ["2902"])
        let own = three[2].id
        let values = try await fixture.run(
            .request(link: link, operation: op(3), .read(three[0].id)),
            .request(link: link, operation: op(4), .write(own, Data([7]))),
            .request(link: link, operation: op(5), .read(own)),
            .request(link: link, operation: op(6), .read(one[0].id)),
            .request(link: link, operation: op(7), .write(three[0].id, Data())))
        #expect(values[0] == .response(link: link, operation: op(3), .value(Data("described".utf8))))
        #expect(values[1] == .response(link: link, operation: op(4), .written))
        #expect(values[2] == .response(link: link, operation: op(5), .value(Data([7]))))
        #expect(values[3] == .response(link: link, operation: op(6), .value(Data([0, 0]))))
        #expect(codes(Array(values.suffix(1))) == [0x03])
    }

    @Test func S69_S77_whatIsNotPermittedIsRefusedByTheDevice() async throws {
        let (fixture, _, link, found) = try await connected()
        let writeOnly = try found.characteristic(ContractPeer.uuid("0109"))
        let readOnly = try found.characteristic(ContractPeer.uuid("010A"))
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .read(writeOnly)),
            .request(link: link, operation: op(2), .write(readOnly, Data([1]))),
            .request(link: link, operation: op(3), .setNotifying(readOnly, true)),
            .request(link: link, operation: op(4), .read(AttributeID(rawValue: 9999))))
        #expect(codes(events) == [0x02, 0x03, 0x06, 0x01])
    }

    @Test func S89_withoutAClientConfigurationThereIsNoSubscription() async throws {
        let description = PeripheralDescription(
            name: "A", advertising: [.init(AdvertisingData())],
            services: [.init("180F", characteristics: [.init("2A19", .notify, clientConfiguration: false)])])
        let (fixture, _, link, found) = try await connected(.instant, description)
        let level = try found.characteristic("2A19")
        let events = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(level, true)))
        #expect(codes(events) == [0x0A])
    }

    @Test func S72_protectedAttributesAreRefusedWithoutAPairing() async throws {
        let description = PeripheralDescription(
            name: "A", advertising: [.init(AdvertisingData())],
            services: [
                .init(
                    "180F",
                    characteristics: [
                        .init("2A19", .read, permissions: [.readEncryptionRequired]),
                        .init("2A1A", [.notify, .notifyEncryptionRequired]),
                    ])
            ], pairing: PairingDescription(answer: .reject))
        let (fixture, _, link, found) = try await connected(.instant, description)
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .read(try found.characteristic("2A19"))),
            .request(link: link, operation: op(2), .setNotifying(try found.characteristic("2A1A"), true)))
        #expect(codes(events) == [0x05, 0x05])
    }

    @Test func S80_longWritesTakePreparedPartsAndAreStoredWhole() async throws {
        let (fixture, device, link, found) = try await connected(.default)
        let long = try found.characteristic(ContractPeer.uuid("0106"))
        let value = Data((0..<400).map { UInt8(truncatingIfNeeded: $0 * 7) })
        let start = fixture.emulator.now
        let events = try await fixture.run(.request(link: link, operation: op(1), .write(long, value)))
        #expect(events == [.response(link: link, operation: op(1), .written)])
        #expect(device.value(of: CharacteristicPath(ContractPeer.uuid("0106"))) == value)
        // 400 bytes at an MTU of 185: three Prepare Writes of 180 bytes at most, and the Execute Write.
        let spent = fixture.emulator.now - start
        #expect(spent >= .milliseconds(200) && spent < .milliseconds(250), "\(spent)")
        #expect(
            codes(try await fixture.run(.request(link: link, operation: op(2), .write(long, Data(count: 513)))))
                == [0x0D])
    }

    @Test func S84_S86_creditsAreSpentByWriteCommandsAndComeBackWhenTheyAreSent() async throws {
        let (fixture, device, link, found) = try await connected(.slow)
        let command = try found.characteristic(ContractPeer.uuid("0102"))
        let count = fixture.events.count
        // Five fit; the sixth is dropped.
        for value in 1...6 as ClosedRange<UInt8> {
            fixture.submit(.writeCommand(link: link, attribute: command, value: Data([value])))
        }
        try await fixture.emulator.advance(by: .milliseconds(399))
        #expect(
            fixture.events(from: count) == [.writeCredits(link: link, count: 1), .writeCredits(link: link, count: 1)])
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.events(from: count).count == 5)
        #expect(device.value(of: CharacteristicPath(ContractPeer.uuid("0102"))) == Data([5]))
        #expect(fixture.emulator.trace.contains { $0.text == "write command without credit dropped" })
    }

    @Test func S85_aNewLinkMayTakeNoWriteCommandsAtFirst() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.writeReadinessDelay = .milliseconds(100)
        let fixture = Fixture(configuration)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let credits = fixture.events.compactMap { event -> Int? in
            switch event {
            case .connected(_, _, _, let parameters): parameters.writeCredits
            case .writeCredits(link, let count): count
            default: nil
            }
        }
        #expect(credits == [0, 20])
    }

    /// Core Specification, Vol 3, Part F, 3.4.6.1: the server limits the number of prepared writes.
    @Test func aLongWriteThatTheServerCannotQueueIsRefused() async throws {
        var description = ContractPeer.description
        description.maximumMTU = 23
        description.prepareQueueLength = 3
        let (fixture, device, link, found) = try await connected(.instant, description)
        let id = try found.characteristic(ContractPeer.uuid("0106"))
        // 18 bytes go into each of three parts.
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .write(id, Data(repeating: 1, count: 54))),
            .request(link: link, operation: op(2), .write(id, Data(repeating: 2, count: 55))))
        #expect(
            events == [
                .response(link: link, operation: op(1), .written),
                .response(link: link, operation: op(2), .failure(.att(0x09, operation: "write"))),
            ])
        #expect(device.value(of: CharacteristicPath(ContractPeer.uuid("0106"))) == Data(repeating: 1, count: 54))
    }

    @Test func aWriteCommandKeepsItsPlaceAmongTheRequests() async throws {
        let (fixture, _, link, found) = try await connected(.default)
        let command = try found.characteristic(ContractPeer.uuid("0102"))
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .read(command)),
            .writeCommand(link: link, attribute: command, value: Data([9])),
            .request(link: link, operation: op(2), .read(command)))
        #expect(
            events == [
                .response(link: link, operation: op(1), .value(Data([0]))), .writeCredits(link: link, count: 1),
                .response(link: link, operation: op(2), .value(Data([9]))),
            ])
    }

    @Test func S88_S91_notificationsArePreferredAndIndicationsAreConfirmedOneByOne() async throws {
        let (fixture, device, link, found) = try await connected(.default)
        let both = try found.characteristic(ContractPeer.uuid("0105"))
        let indicate = try found.characteristic(ContractPeer.uuid("0104"))
        for id in [both, indicate] {
            _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(id, true)))
        }
        func time(_ path: BluetoothUUID) async throws -> Duration {
            let (start, count) = (fixture.emulator.now, fixture.events.count)
            for value in 1...3 as ClosedRange<UInt8> { device.notify(CharacteristicPath(path), value: Data([value])) }
            try await fixture.emulator.advance(until: { fixture.events.count == count + 3 })
            return fixture.emulator.now - start
        }
        #expect(try await time(ContractPeer.uuid("0105")) <= .milliseconds(50))
        let spent = try await time(ContractPeer.uuid("0104"))
        #expect(spent >= .milliseconds(100) && spent <= .milliseconds(150), "\(spent)")
        let description = try await fixture.run(
            .request(link: link, operation: op(2), .discoverDescriptors(of: indicate)))
        guard case .response(_, _, .descriptors(let descriptors))? = description.first else {
            throw Unexpected(description[0])
        }
        let read = try await fixture.run(.request(link: link, operation: op(3), .read(descriptors[0].id)))
        #expect(read == [.response(link: link, operation: op(3), .value(Data([2, 0])))])
    }

    @Test func S139_aNotificationIsCutToTheMTU() async throws {
        let (fixture, device, link, found) = try await connected(.slow)
        let id = try found.characteristic(ContractPeer.uuid("0103"))
        _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(id, true)))
        device.notify(CharacteristicPath(ContractPeer.uuid("0103")), value: ContractPeer.long)
        #expect(
            try await fixture.run() == [.valueNotified(link: link, attribute: id, value: ContractPeer.long.prefix(20))])
    }

    @Test func S94_oneManagerUnsubscribingDoesNotStopTheOther() async throws {
        let (fixture, device, link, found) = try await connected()
        let id = try found.characteristic(ContractPeer.uuid("0103"))
        let other = Fixture(emulator: fixture.emulator)
        try await other.powerOn()
        let second = try await other.connectShared(device)
        _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(id, true)))
        _ = try await other.run(.request(link: second, operation: op(2), .setNotifying(id, true)))
        _ = try await fixture.run(.request(link: link, operation: op(3), .setNotifying(id, false)))
        let count = fixture.events.count
        device.notify(CharacteristicPath(ContractPeer.uuid("0103")), value: Data([1]))
        #expect(try await other.run() == [.valueNotified(link: second, attribute: id, value: Data([1]))])
        #expect(fixture.events.count == count)
        other.submit(.disconnect(peer: try #require(device.identifier())))
        try await fixture.emulator.runUntilIdle()
        #expect(device.subscriberCount(of: CharacteristicPath(ContractPeer.uuid("0103"))) == 0)
    }

    @Test func S101_S73_serviceChangesAreReportedAndOldAttributesAreGone() async throws {
        let (fixture, device, link, found) = try await connected()
        let level = try found.characteristic("2A19")
        let battery = try found.service("180F")
        try device.addService(ServiceDescription(ContractPeer.uuid("0009")))
        device.removeService("180F")
        let events = try await fixture.run(.request(link: link, operation: op(1), .read(level)))
        guard case .servicesChanged(link, [], let added)? = events.first else { throw Unexpected(events[0]) }
        #expect(added.map(\.uuid) == [ContractPeer.uuid("0009")])
        #expect(events.contains(.servicesChanged(link: link, removed: [battery], added: [])))
        #expect(codes(events).contains(0x01))
        let again = try await fixture.attributes(link)
        #expect(again.services.map(\.uuid).last == ContractPeer.uuid("0009"))
        #expect(!again.services.contains { $0.id == battery })
    }

    @Test func S57_aFilteredDiscoveryFindsThoseOnlyAndEmptyFindsAll() async throws {
        let (fixture, _, link, _) = try await connected()
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .discoverServices([ContractPeer.uuid("0003")])),
            .request(link: link, operation: op(2), .discoverServices([])),
            .request(link: link, operation: op(3), .discoverServices(["1811"])))
        let counts = events.map { if case .response(_, _, .services(let services)) = $0 { services.count } else { -1 } }
        #expect(counts == [2, 5, 0])
    }

    @Test func theDeviceMayExchangeTheMTU() async throws {
        var description = ContractPeer.description
        description.maximumMTU = 23
        let (fixture, device, link, _) = try await connected(.instant, description)
        device.exchangeMTU(100)
        #expect(try await fixture.run() == [.mtuChanged(link: link, mtu: 100)])
        device.exchangeMTU(517)
        #expect(try await fixture.run() == [.mtuChanged(link: link, mtu: 185)])
    }

    @Test func theUnreliablePresetRefusesByChance() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.operationErrorRate = 0.1
        let (fixture, _, link, found) = try await connected(configuration)
        let level = try found.characteristic("2A19")
        var refused = 0
        for number in 0..<500 {
            let events = try await fixture.run(.request(link: link, operation: op(UInt64(number)), .read(level)))
            refused += codes(events) == [0x02] ? 1 : 0
        }
        #expect((25...80).contains(refused), "\(refused) of 500")
    }
}

extension Fixture {
    /// Takes a lease of an open link.
    func connectShared(_ device: EmulatedDevice) async throws -> LinkID {
        let peer = try #require(device.identifier())
        let events = try await run(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        guard case .connected(_, let link, _, _)? = events.first else { throw Unexpected(events[0]) }
        return link
    }
}
