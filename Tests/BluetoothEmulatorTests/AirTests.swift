import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Addresses, kinds of advertising, lost packets, link parameters, and what a radio can do.
@Suite struct AirTests {
    private func device(
        _ stage: Stage, _ sets: [AdvertisingDescription] = [AdvertisingDescription(AdvertisingData())],
        loss: Double = 0
    ) throws -> EmulatedDevice {
        try stage.emulator.add(
            PeripheralDescription(
                name: "D", advertising: sets,
                services: [
                    ServiceDescription(
                        "C0DE", characteristics: [CharacteristicDescription("C0D1", [.read], value: Data([1]))])
                ], packetLossRate: loss))
    }

    private func discoveries(_ stage: Stage, from count: Int = 0) -> [Discovery] {
        stage.events(from: count).compactMap { event in
            if case .discovered(let discovery) = event { discovery } else { nil }
        }
    }

    private func readingTime(_ stage: Stage, _ link: LinkID, _ id: AttributeID) async throws -> Duration {
        let count = stage.events.count
        let start = stage.emulator.now
        stage.submit(.read(link: link, operation: op(1), attribute: id))
        try await stage.emulator.advance(until: { stage.events.count > count })
        return stage.emulator.now - start
    }

    // MARK: Addresses

    @Test func aNewAddressIsANewPeerToThoseWithoutKeys() async throws {
        let stage = Stage()
        let device = try device(stage)
        try await stage.powerOn()
        let first = try await stage.find(device)
        device.rotateAddress()
        try await stage.emulator.runUntilIdle()
        let second = try await stage.find(device)
        #expect(first != second)
        let addresses = Set(discoveries(stage).compactMap(\.address))
        #expect(addresses.count == 2)
        // A resolvable private address begins with the bits 01.
        let last = try #require(discoveries(stage).last?.address)
        #expect("4567".contains(try #require(last.first)))
    }

    @Test func aBondedHostKnowsADeviceUnderEachAddress() async throws {
        let stage = Stage()
        let device = try device(stage)
        stage.emulator.host.bond(with: device)
        try await stage.powerOn()
        let first = try await stage.find(device)
        device.rotateAddress()
        try await stage.emulator.runUntilIdle()
        let second = try await stage.find(device)
        #expect(first == second)
        _ = try await stage.connect(device)
        device.rotateAddress()
        try await stage.emulator.runUntilIdle()
        #expect(device.connectionCount == 1)
        #expect(stage.central.knownPeers([first]).first?.address != discoveries(stage).last?.address)
    }

    @Test func anAddressRotatesByItself() async throws {
        let stage = Stage()
        try stage.emulator.add(
            PeripheralDescription(
                name: "Shy", advertising: [AdvertisingDescription(AdvertisingData())],
                addressRotation: .seconds(900)))
        try await stage.powerOn()
        stage.submit(.startScan(ScanParameters()))
        try await stage.emulator.advance(by: .seconds(3600))
        #expect(Set(discoveries(stage).map(\.peer)).count >= 4)
    }

    // MARK: Advertising

    @Test func aOneShotIsHeardOnceOrNever() async throws {
        let stage = Stage()
        let oneShot = AdvertisingDescription(AdvertisingData(localName: "once"), interval: .zero, isEnabled: false)
        let device = try device(stage, [oneShot])
        try await stage.powerOn()
        device.setAdvertising(true)
        try await stage.emulator.advance(by: .seconds(1))
        stage.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await stage.emulator.advance(by: .seconds(10))
        #expect(discoveries(stage).isEmpty)
        device.setAdvertising(true)
        try await stage.emulator.advance(by: .seconds(10))
        #expect(discoveries(stage).count == 1)
        device.setAdvertising(true)
        try await stage.emulator.advance(by: .seconds(10))
        #expect(discoveries(stage).count == 2)
    }

    @Test func advertisingForSomeTimeEnds() async throws {
        let stage = Stage()
        let set = AdvertisingDescription(AdvertisingData(), duration: .seconds(5))
        let device = try device(stage, [set])
        try await stage.powerOn()
        stage.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await stage.emulator.advance(by: .seconds(6))
        let count = discoveries(stage).count
        #expect((40...50).contains(count))
        try await stage.emulator.advance(by: .seconds(10))
        #expect(discoveries(stage).count == count)
        device.setAdvertising(true)
        try await stage.emulator.advance(by: .seconds(3))
        device.setAdvertising(true)
        try await stage.emulator.advance(by: .seconds(3))
        // Switched on again, it goes on.
        #expect(discoveries(stage).count > count + 50)
    }

    @Test func extendedAdvertisingIsHeardByRadiosThatCan() async throws {
        let stage = Stage()
        let data = AdvertisingData(manufacturerData: Data(repeating: 7, count: 200))
        #expect(throws: DescriptionError.self) { try AdvertisingDescription(data).validate() }
        _ = try device(stage, [AdvertisingDescription(data, isExtended: true)])
        stage.emulator.host.setSupport(.extendedScanAndConnect, false)
        try await stage.powerOn()
        #expect(!stage.emulator.supports(.extendedScanAndConnect))
        stage.submit(.startScan(ScanParameters()))
        try await stage.emulator.advance(by: .seconds(1))
        #expect(discoveries(stage).isEmpty)
        stage.emulator.host.setSupport(.extendedScanAndConnect, true)
        try await stage.emulator.advance(by: .seconds(1))
        #expect(discoveries(stage).first?.advertisement.manufacturerData?.count == 200)
    }

    @Test func severalSetsAreOneDeviceWithMergedData() async throws {
        let stage = Stage()
        _ = try device(
            stage,
            [
                AdvertisingDescription(AdvertisingData(localName: "Two")),
                AdvertisingDescription(AdvertisingData(services: ["180F"]), isConnectable: true),
            ])
        try await stage.powerOn()
        stage.submit(.startScan(ScanParameters()))
        try await stage.emulator.advance(by: .seconds(1))
        let found = discoveries(stage)
        #expect(Set(found.map(\.peer)).count == 1)
        #expect(found.last?.advertisement.localName == "Two")
        #expect(found.last?.advertisement.serviceUUIDs == ["180F"])
    }

    /// Proves S19.
    @Test func S19_solicitedServicesAreScannedFor() async throws {
        let stage = Stage()
        let device = try device(stage, [AdvertisingDescription(AdvertisingData(solicitedServices: ["1805"]))])
        _ = try stage.emulator.add(
            PeripheralDescription(name: "Other", advertising: [AdvertisingDescription(AdvertisingData())]))
        try await stage.powerOn()
        stage.submit(.startScan(ScanParameters(services: ["180D"], solicitedServices: ["1805"])))
        try await stage.emulator.advance(by: .seconds(1))
        #expect(discoveries(stage).map(\.peer) == [try #require(device.identifier())])
    }

    // MARK: Links

    @Test func lostPacketsAreSentAgain() async throws {
        let stage = Stage(.default)
        let device = try device(stage)
        try await stage.powerOn()
        let link = try await stage.connect(device)
        let id = try await stage.attributes(link).characteristic("C0D1")
        func total(_ rate: Double) async throws -> Duration {
            device.setPacketLossRate(rate)
            var sum = Duration.zero
            for _ in 0..<20 { sum += try await readingTime(stage, link, id) }
            return sum
        }
        let clean = try await total(0)
        let half = try await total(0.5)
        #expect(half > clean + .milliseconds(400), "\(clean) \(half)")
    }

    @Test func aLinkOnWhichAllIsLostDiesBySupervisionTimeout() async throws {
        let stage = Stage(.default)
        let device = try device(stage)
        try await stage.powerOn()
        let link = try await stage.connect(device)
        let id = try await stage.attributes(link).characteristic("C0D1")
        device.setPacketLossRate(1)
        let count = stage.events.count
        stage.submit(.read(link: link, operation: op(1), attribute: id))
        try await stage.emulator.runUntilIdle()
        guard case .disconnected(link, .timeout, _, _)? = stage.events(from: count).first else {
            throw Unexpected("\(stage.events(from: count))")
        }
    }

    @Test func aDeviceAsksForOtherLinkParameters() async throws {
        let stage = Stage(.default)
        let device = try device(stage)
        try await stage.powerOn()
        let link = try await stage.connect(device)
        let id = try await stage.attributes(link).characteristic("C0D1")
        #expect(try await readingTime(stage, link, id) <= .milliseconds(100))
        try device.requestParameters(
            ConnectionParameters(
                interval: .milliseconds(100), peripheralLatency: 9, supervisionTimeout: .seconds(6)))
        try await stage.emulator.runUntilIdle()
        // The device listens once a second.
        var longest = Duration.zero
        for pause in [10, 430, 250] {
            try await stage.emulator.advance(by: .milliseconds(pause))
            longest = max(longest, try await readingTime(stage, link, id))
        }
        #expect(longest > .milliseconds(300) && longest <= .milliseconds(1100), "\(longest)")
        let start = stage.emulator.now
        device.setProximity(.outOfRange)
        try await stage.emulator.runUntilIdle()
        #expect(stage.emulator.now - start >= .milliseconds(5900))
        #expect(throws: DescriptionError.self) {
            try device.requestParameters(
                ConnectionParameters(
                    interval: .seconds(1), peripheralLatency: 9, supervisionTimeout: .seconds(6)))
        }
    }

    // MARK: Hosts

    /// Proves S156.
    @Test func S156_theUserGrantsAccessToNotifications() async throws {
        let stage = Stage()
        let device = try device(stage)
        try await stage.powerOn()
        let peer = try await stage.find(device)
        stage.emulator.host.setANCSAuthorized(true, for: device)
        try await stage.emulator.runUntilIdle()
        #expect(stage.events.last != .ancsAuthorizationChanged(peer: peer, isAuthorized: true))
        _ = try await stage.connect(device)
        stage.emulator.host.setANCSAuthorized(true, for: device)
        try await stage.emulator.runUntilIdle()
        #expect(stage.events.last == .ancsAuthorizationChanged(peer: peer, isAuthorized: true))
    }

    /// Proves S157.
    @Test func S157_whatARadioCannotDoItSays() async throws {
        let stage = Stage()
        let device = try device(stage)
        let host = stage.emulator.host
        try await stage.powerOn()
        let link = try await stage.connect(device)
        for feature in BackendFeature.allCases {
            #expect(stage.emulator.supports(feature))
            host.setSupport(feature, false)
        }
        try await stage.emulator.runUntilIdle()
        for feature in BackendFeature.allCases { #expect(!stage.emulator.supports(feature)) }
        let told = try await stage.run(.readRSSI(link: link, operation: op(1)))
        guard case .operationFailed(link, op(1), let error)? = told.last else { throw Unexpected("\(told)") }
        #expect(error.code == .operationNotSupported)
        device.disconnect()
        try await stage.emulator.runUntilIdle()
        guard case .disconnected(link, .unknown, _, _)? = stage.events.last else {
            throw Unexpected("\(stage.events)")
        }
        let peripheral = PeripheralStage(stage.emulator, host: "default")
        peripheral.peripheral.activate(peripheral.sink)
        try await stage.emulator.runUntilIdle()
        #expect(peripheral.events == [.stateChanged(.unsupported)])
        host.setSupport(.peripheralRole, true)
        try await stage.emulator.runUntilIdle()
        #expect(peripheral.events.last == .stateChanged(.poweredOn))
        let refused = try await peripheral.run(.publishChannel(operation: op(2), isEncryptionRequired: false))
        guard case .operationFailed(op(2), _)? = refused.last else { throw Unexpected("\(refused)") }
    }
}
