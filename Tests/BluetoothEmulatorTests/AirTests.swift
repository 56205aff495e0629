import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Addresses, kinds of advertising, lost packets, link parameters, and features of adapters.
@Suite struct AirTests {
    private func device(
        _ fixture: Fixture, _ sets: [AdvertisingDescription] = [AdvertisingDescription(AdvertisingData())],
        loss: Double = 0
    ) throws -> EmulatedDevice {
        try fixture.emulator.add(
            PeripheralDescription(
                name: "D", advertising: sets,
                services: [
                    ServiceDescription(
                        "C0DE", characteristics: [CharacteristicDescription("C0D1", [.read], value: Data([1]))])
                ], packetLossRate: loss))
    }

    private func discoveries(_ fixture: Fixture, from count: Int = 0) -> [Discovery] {
        fixture.events(from: count).compactMap { event in
            if case .discovered(let discovery) = event { discovery } else { nil }
        }
    }

    private func readingTime(_ fixture: Fixture, _ link: LinkID, _ id: AttributeID) async throws -> Duration {
        let count = fixture.events.count
        let start = fixture.emulator.now
        fixture.submit(.request(link: link, operation: op(1), .read(id)))
        try await fixture.emulator.advance(until: { fixture.events.count > count })
        return fixture.emulator.now - start
    }

    // MARK: Addresses

    @Test func aNewAddressIsANewPeerToThoseWithoutKeys() async throws {
        let fixture = Fixture()
        let device = try device(fixture)
        try await fixture.powerOn()
        let first = try await fixture.find(device)
        device.rotateAddress()
        try await fixture.emulator.runUntilIdle()
        let second = try await fixture.find(device)
        #expect(first != second)
        let addresses = Set(discoveries(fixture).compactMap(\.address))
        #expect(addresses.count == 2)
        // A resolvable private address begins with the bits 01.
        let last = try #require(discoveries(fixture).last?.address)
        #expect("4567".contains(try #require(last.first)))
    }

    @Test func aBondedHostKnowsADeviceUnderEachAddress() async throws {
        let fixture = Fixture()
        let device = try device(fixture)
        fixture.emulator.host.bond(with: device)
        try await fixture.powerOn()
        let first = try await fixture.find(device)
        device.rotateAddress()
        try await fixture.emulator.runUntilIdle()
        let second = try await fixture.find(device)
        #expect(first == second)
        _ = try await fixture.connect(device)
        device.rotateAddress()
        try await fixture.emulator.runUntilIdle()
        #expect(device.connectionCount == 1)
        #expect(fixture.central.knownPeers([first]).first?.address != discoveries(fixture).last?.address)
    }

    @Test func anAddressRotatesByItself() async throws {
        let fixture = Fixture()
        try fixture.emulator.add(
            PeripheralDescription(
                name: "Shy", advertising: [AdvertisingDescription(AdvertisingData())],
                addressRotation: .seconds(900)))
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .seconds(3600))
        #expect(Set(discoveries(fixture).map(\.peer)).count >= 4)
    }

    // MARK: Advertising

    @Test func aOneShotIsHeardOnceOrNever() async throws {
        let fixture = Fixture()
        let oneShot = AdvertisingDescription(AdvertisingData(localName: "once"), interval: .zero, isEnabled: false)
        let device = try device(fixture, [oneShot])
        try await fixture.powerOn()
        device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(1))
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(discoveries(fixture).isEmpty)
        device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(discoveries(fixture).count == 1)
        device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(discoveries(fixture).count == 2)
    }

    @Test func advertisingForSomeTimeEnds() async throws {
        let fixture = Fixture()
        let set = AdvertisingDescription(AdvertisingData(), duration: .seconds(5))
        let device = try device(fixture, [set])
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await fixture.emulator.advance(by: .seconds(6))
        let count = discoveries(fixture).count
        #expect((40...50).contains(count))
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(discoveries(fixture).count == count)
        device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(3))
        device.setAdvertising(true)
        try await fixture.emulator.advance(by: .seconds(3))
        // The set is switched on again and continues.
        #expect(discoveries(fixture).count > count + 50)
    }

    @Test func extendedAdvertisingIsHeardByAdaptersThatSupportIt() async throws {
        let fixture = Fixture()
        let data = AdvertisingData(manufacturerData: Data(repeating: 7, count: 200))
        #expect(throws: DescriptionError.self) { try AdvertisingDescription(data).validate() }
        _ = try device(fixture, [AdvertisingDescription(data, isExtended: true)])
        fixture.emulator.host.setSupport(.extendedScanAndConnect, false)
        try await fixture.powerOn()
        #expect(!fixture.emulator.supports(.extendedScanAndConnect))
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(discoveries(fixture).isEmpty)
        fixture.emulator.host.setSupport(.extendedScanAndConnect, true)
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(discoveries(fixture).first?.advertisement.manufacturerData?.count == 200)
    }

    @Test func severalSetsAreOneDeviceWithMergedData() async throws {
        let fixture = Fixture()
        _ = try device(
            fixture,
            [
                AdvertisingDescription(AdvertisingData(localName: "Two")),
                AdvertisingDescription(AdvertisingData(services: ["180F"]), isConnectable: true),
            ])
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .seconds(1))
        let found = discoveries(fixture)
        #expect(Set(found.map(\.peer)).count == 1)
        #expect(found.last?.advertisement.localName == "Two")
        #expect(found.last?.advertisement.serviceUUIDs == ["180F"])
    }

    @Test func S19_solicitedServicesAreScannedFor() async throws {
        let fixture = Fixture()
        let device = try device(fixture, [AdvertisingDescription(AdvertisingData(solicitedServices: ["1805"]))])
        _ = try fixture.emulator.add(
            PeripheralDescription(name: "Other", advertising: [AdvertisingDescription(AdvertisingData())]))
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(services: ["180D"], solicitedServices: ["1805"])))
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(discoveries(fixture).map(\.peer) == [try #require(device.identifier())])
    }

    // MARK: Links

    @Test func lostPacketsAreSentAgain() async throws {
        let fixture = Fixture(.default)
        let device = try device(fixture)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let id = try await fixture.attributes(link).characteristic("C0D1")
        func total(_ rate: Double) async throws -> Duration {
            device.setPacketLossRate(rate)
            var sum = Duration.zero
            for _ in 0..<20 { sum += try await readingTime(fixture, link, id) }
            return sum
        }
        let clean = try await total(0)
        let half = try await total(0.5)
        #expect(half > clean + .milliseconds(400), "\(clean) \(half)")
    }

    @Test func interferenceLosesPacketsOfLinksAndOfAdvertising() async throws {
        let fixture = Fixture(.default)
        let device = try device(fixture)
        try fixture.emulator.add(
            PeripheralDescription(name: "Other", advertising: [AdvertisingDescription(AdvertisingData())]))
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let id = try await fixture.attributes(link).characteristic("C0D1")
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        func measured(_ chance: Double) async throws -> (reading: Duration, discoveries: Int) {
            fixture.emulator.setInterference(chance)
            var sum = Duration.zero
            for _ in 0..<20 { sum += try await readingTime(fixture, link, id) }
            let count = fixture.events.count
            try await fixture.emulator.advance(by: .seconds(20))
            return (sum, discoveries(fixture, from: count).count)
        }
        let clean = try await measured(0)
        let half = try await measured(0.5)
        #expect(half.reading > clean.reading + .milliseconds(400), "\(clean) \(half)")
        #expect(half.discoveries * 4 < clean.discoveries * 3 && half.discoveries > 0, "\(clean) \(half)")
        #expect(try await measured(0).reading < clean.reading + .milliseconds(100))
    }

    @Test func aLinkOnWhichAllIsLostDiesBySupervisionTimeout() async throws {
        let fixture = Fixture(.default)
        let device = try device(fixture)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let id = try await fixture.attributes(link).characteristic("C0D1")
        device.setPacketLossRate(1)
        let count = fixture.events.count
        fixture.submit(.request(link: link, operation: op(1), .read(id)))
        try await fixture.emulator.runUntilIdle()
        guard case .disconnected(link, .timeout, _, _, _)? = fixture.events(from: count).first else {
            throw Unexpected("\(fixture.events(from: count))")
        }
    }

    @Test func aDeviceAsksForOtherLinkParameters() async throws {
        let fixture = Fixture(.default)
        let device = try device(fixture)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let id = try await fixture.attributes(link).characteristic("C0D1")
        #expect(try await readingTime(fixture, link, id) <= .milliseconds(100))
        try device.requestParameters(
            ConnectionParameters(
                interval: .milliseconds(100), peripheralLatency: 9, supervisionTimeout: .seconds(6)))
        try await fixture.emulator.runUntilIdle()
        // The device listens once a second.
        var longest = Duration.zero
        for pause in [10, 430, 250] {
            try await fixture.emulator.advance(by: .milliseconds(pause))
            longest = max(longest, try await readingTime(fixture, link, id))
        }
        #expect(longest > .milliseconds(300) && longest <= .milliseconds(1100), "\(longest)")
        let start = fixture.emulator.now
        device.setProximity(.outOfRange)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.emulator.now - start >= .milliseconds(5900))
        #expect(throws: DescriptionError.self) {
            try device.requestParameters(
                ConnectionParameters(
                    interval: .seconds(1), peripheralLatency: 9, supervisionTimeout: .seconds(6)))
        }
    }

    // MARK: Hosts

    @Test func S156_theUserGrantsAccessToNotifications() async throws {
        let fixture = Fixture()
        let device = try device(fixture)
        try await fixture.powerOn()
        let peer = try await fixture.find(device)
        fixture.emulator.host.setANCSAuthorized(true, for: device)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.events.last != .ancsAuthorizationChanged(peer: peer, isAuthorized: true))
        _ = try await fixture.connect(device)
        fixture.emulator.host.setANCSAuthorized(true, for: device)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.events.last == .ancsAuthorizationChanged(peer: peer, isAuthorized: true))
    }

    @Test func S157_anAdapterReportsTheFeaturesThatItLacks() async throws {
        let fixture = Fixture()
        let device = try device(fixture)
        let host = fixture.emulator.host
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        for feature in BackendFeature.allCases {
            #expect(fixture.emulator.supports(feature))
            host.setSupport(feature, false)
        }
        try await fixture.emulator.runUntilIdle()
        for feature in BackendFeature.allCases { #expect(!fixture.emulator.supports(feature)) }
        let events = try await fixture.run(.request(link: link, operation: op(1), .readRSSI))
        guard case .response(link, op(1), .failure(let error))? = events.last else { throw Unexpected("\(events)") }
        #expect(error.code == .operationNotSupported)
        device.disconnect()
        try await fixture.emulator.runUntilIdle()
        guard case .disconnected(link, .unknown, _, _, _)? = fixture.events.last else {
            throw Unexpected("\(fixture.events)")
        }
        let peripheral = PeripheralFixture(fixture.emulator, host: "default")
        peripheral.peripheral.activate(peripheral.sink)
        try await fixture.emulator.runUntilIdle()
        #expect(peripheral.events == [.stateChanged(.unsupported)])
        host.setSupport(.peripheralRole, true)
        try await fixture.emulator.runUntilIdle()
        #expect(peripheral.events.last == .stateChanged(.poweredOn))
        let refused = try await peripheral.run(.publishChannel(operation: op(2), isEncryptionRequired: false))
        guard case .operationFailed(op(2), _)? = refused.last else { throw Unexpected("\(refused)") }
    }
}
