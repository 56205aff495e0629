import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// Advertising packets that overlap on a channel destroy each other, if the configuration enables this.
@Suite struct CollisionTests {
    private static func set(
        _ length: Int, isConnectable: Bool = false, isExtended: Bool = false
    )
        -> AdvertisingDescription
    {
        AdvertisingDescription(
            AdvertisingData(manufacturerData: Data(count: length - 2)), isConnectable: isConnectable,
            isExtended: isExtended)
    }

    // MARK: The rules

    // Core Specification, Vol 6, Part B, 2.1: 1 byte of preamble, 4 of access address, 2 of header, 6 of AdvA and 3 of
    // CRC in addition to the data, 8 us each. 2.3.4.1: an ADV_EXT_IND with ADI and AuxPtr has a payload of 7.
    @Test func packetsHaveTheirAirtime() {
        #expect(AdvertisingEventTiming(Self.set(2)).airtime == 144_000)
        #expect(AdvertisingEventTiming(Self.set(31)).airtime == 376_000)
        // A connectable set has 3 bytes of flags.
        #expect(AdvertisingEventTiming(Self.set(28, isConnectable: true)).airtime == 376_000)
        #expect(AdvertisingEventTiming(Self.set(200, isExtended: true)).airtime == 136_000)
    }

    /// A connectable packet leaves time for a pause and a SCAN_REQ of 176 us; two packets of an event begin within 10 ms
    /// (4.4.2.3).
    @Test func theThreePacketsOfAnEventFollowEachOther() {
        let beacon = AdvertisingEventTiming(Self.set(31))
        #expect(beacon.spacing == 526_000 && beacon.duration == 1_428_000)
        let connectable = AdvertisingEventTiming(Self.set(28, isConnectable: true))
        #expect(connectable.spacing == 852_000 && connectable.spacing < 10_000_000)
        #expect(beacon.packet(on: 2, from: 1_000) == 1_053_000..<1_429_000)
    }

    /// Returns the bits of the channels on which the packets of two events are destroyed.
    private func collide(
        _ first: AdvertisingDescription, _ second: AdvertisingDescription, after delay: Nanoseconds
    )
        -> [UInt8?]
    {
        var collisions = AdvertisingCollisions()
        let one = AirPacket(Ref(slot: 0, serial: 1), set: 0, generation: 0)
        let two = AirPacket(Ref(slot: 1, serial: 2), set: 0, generation: 0)
        collisions.begin(.init(one, first, at: 1_000))
        collisions.begin(.init(two, second, at: 1_000 + delay))
        let ends = [collisions.end(one)?.destroyed, collisions.end(two)?.destroyed]
        return collisions.count == 0 ? ends : []
    }

    @Test func packetsThatOverlapOnAChannelDestroyEachOther() {
        let beacon = Self.set(31)
        #expect(collide(beacon, beacon, after: 0) == [7, 7])
        #expect(collide(beacon, beacon, after: 375_999) == [7, 7])
        // The events follow each other, or the second's packet on 37 coincides with the first's on 38.
        #expect(collide(beacon, beacon, after: 376_000) == [0, 0])
        #expect(collide(beacon, beacon, after: 526_000) == [0, 0])
        // The second's packets are shorter and follow each other faster: its third meets the first's third.
        #expect(collide(beacon, Self.set(2), after: 620_000) == [4, 4])
    }

    // MARK: A scanner

    @Test func theSameSeedLosesTheSamePackets() async throws {
        let row = CollisionRow(interval: .milliseconds(100), advertisers: 100, duration: .seconds(2))
        #expect(try await row.measuredLoss(seed: 5) == row.measuredLoss(seed: 5))
        #expect(try await row.measuredLoss(seed: 5) != row.measuredLoss(seed: 6))
    }

    @Test func noPresetHasCollisions() {
        #expect(EmulatorPreset.allCases.allSatisfy { !$0.configuration.advertisingCollides })
    }

    /// After a scan without duplicates, other devices continue to advertise, and the device still answers the connect.
    @Test func aConnectSucceedsAmongManyDevices() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.advertisingCollides = true
        let fixture = Fixture(configuration)
        for number in 0..<20 {
            try fixture.emulator.add(
                PeripheralDescription(
                    name: "Beacon \(number)", advertising: [Self.set(31)]))
        }
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        #expect(fixture.emulator.advertisingPackets > 20)
        // No host listens, so no packets are sent.
        try await fixture.emulator.advance(by: .seconds(1))
        let packets = fixture.emulator.advertisingPackets
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(fixture.emulator.advertisingPackets == packets)
    }

    // MARK: ALOHA

    @Test(arguments: CollisionRow.all)
    func lossDiffersFromThatOfALOHAByATenthOrLess(row: CollisionRow) async throws {
        let (loss, predicted) = (try await row.measuredLoss(), row.predictedLoss)
        #expect(abs(loss - predicted) < 0.1 * predicted, "\(row): \(loss), expected \(predicted)")
    }

    /// The figures of the benchmark, from which `make plots` generates the page, are those of this emulator.
    @Test func thePageHasTheMeasuredFigure() async throws {
        let row = CollisionRow(interval: .milliseconds(100), advertisers: 400, duration: .seconds(10))
        let loss = String(format: "%.1f %%", 100 * (try await row.measuredLoss()))
        let lines = try Document("AirtimeAndCollisions").text().components(separatedBy: "\n")
        let line = try #require(lines.first { $0.hasPrefix("| 400 | 100 ms |") })
        #expect(line.contains("| \(loss) |"), "run `make plots`: the loss is \(loss)")
    }
}
