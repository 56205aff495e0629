import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Heart Rate Service 1.0, byte by byte.
@Suite struct HeartRateMonitorTests {
    @Test func aRateOf60HasOneRRIntervalOf1024EachSecond() async throws {
        let fixture = try await DeviceFixture(.heartRateMonitor(rate: 60, batteryLevel: 50))
        try await fixture.subscribe("2A37")
        let values = try await fixture.values("2A37", for: .seconds(10))
        // Flags: contact supported and detected, RR intervals present.
        #expect(values.prefix(9) == [[UInt8]](repeating: [0x16, 60, 0x00, 0x04], count: 9)[...])
        // The tenth value also has the energy expended.
        #expect(values.last == [0x1E, 60, 1, 0, 0x00, 0x04])
        #expect(try await fixture.read("2A19") == .value(Data([50])))
    }

    @Test func aRateAbove255TakesSixteenBits() async throws {
        let fixture = try await DeviceFixture(.heartRateMonitor(rate: 300, batteryLevel: 50))
        try await fixture.subscribe("2A37")
        // 300 per minute are five per second, each 204/1024 s long.
        let values = try await fixture.values("2A37", for: .seconds(1))
        #expect(
            values == [
                [0x17, 0x2C, 0x01] + [UInt8](repeating: 0, count: 10).enumerated().map { $0.0 % 2 == 0 ? 204 : 0 }
            ])
    }

    @Test func aSlowHeartHasSecondsWithoutABeat() async throws {
        let fixture = try await DeviceFixture(.heartRateMonitor(rate: 40, batteryLevel: 50))
        try await fixture.subscribe("2A37")
        let flags = try await fixture.values("2A37", for: .seconds(6)).map { $0[0] }
        // One beat per 1.5 s: in the second, third, fifth and sixth second.
        #expect(flags == [0x06, 0x16, 0x16, 0x06, 0x16, 0x16])
        try #require(EmulatedHeartRateMonitor(fixture.device)).setHeartRate(0)
        #expect(try await fixture.values("2A37", for: .seconds(1)) == [[0x06, 0]])
    }

    @Test func theFastestHeartFitsTwentyBytes() async throws {
        let fixture = try await DeviceFixture(.heartRateMonitor(rate: 65_535, batteryLevel: 50))
        try await fixture.subscribe("2A37")
        let values = try await fixture.values("2A37", for: .seconds(10))
        #expect(values.allSatisfy { $0.count <= 20 })
        #expect(values[0].prefix(3) == [0x17, 0xFF, 0xFF])
    }

    @Test func contactIsSupportedOrNotAndDetectedOrNot() async throws {
        let fixture = try await DeviceFixture(.heartRateMonitor(rate: 60, batteryLevel: 50))
        try await fixture.subscribe("2A37")
        try #require(EmulatedHeartRateMonitor(fixture.device)).setSensorContact(false)
        #expect(try await fixture.values("2A37", for: .seconds(1)).map { $0[0] & 0x06 } == [0x04])
        fixture.device.set(.sensorContactSupported, to: 0)
        #expect(try await fixture.values("2A37", for: .seconds(1)).map { $0[0] & 0x06 } == [0x00])
    }

    @Test func theControlPointResetsTheEnergyAndRefusesAllElse() async throws {
        let fixture = try await DeviceFixture(.heartRateMonitor(rate: 60, batteryLevel: 50))
        fixture.device.set(.energyExpended, to: 500)
        try await fixture.subscribe("2A37")
        #expect(try await fixture.values("2A37", for: .seconds(10)).last?[2...3] == [0xF5, 0x01])
        #expect(try await fixture.write("2A39", [1]) == .written)
        #expect(try await fixture.values("2A37", for: .seconds(10)).last?[2...3] == [1, 0])
        #expect(try await fixture.write("2A39", [2]) == .refused(0x80))
        #expect(try await fixture.write("2A39", []) == .refused(0x80))
        #expect(try await fixture.write("2A39", [1, 1]) == .refused(0x0D))
    }

    @Test func nothingIsSentWhenNobodyListensAnyMore() async throws {
        let fixture = try await DeviceFixture(.heartRateMonitor)
        try await fixture.subscribe("2A37")
        #expect(try await fixture.values("2A37", for: .seconds(3)).count == 3)
        try await fixture.subscribe("2A37", false)
        #expect(try await fixture.values("2A37", for: .seconds(3)).isEmpty)
    }
}
