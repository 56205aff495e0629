import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Current Time Service 1.1, byte by byte; virtual time begins on Wednesday, 1 January 2025, 00:00:00 UTC.
@Suite struct CurrentTimeTests {
    /// Drives to a whole second and reads the time.
    private func time(_ fixture: DeviceFixture, at second: Int) async throws -> DeviceFixture.Outcome {
        try await fixture.emulator.advance(by: .seconds(second) - fixture.emulator.now)
        return try await fixture.read("2A2B")
    }

    @Test func virtualTimeDrivesTheClock() async throws {
        let fixture = try await DeviceFixture(.currentTime)
        #expect(try await time(fixture, at: 60) == .value(Data([0xE9, 0x07, 1, 1, 0, 1, 0, 3, 0, 0])))
        // 59 days later it is Saturday, 1 March; half a second is 128/256.
        try await fixture.emulator.advance(by: .seconds(59 * 86_400) + .milliseconds(500) - fixture.emulator.now)
        #expect(try await fixture.read("2A2B") == .value(Data([0xE9, 0x07, 3, 1, 0, 0, 0, 6, 128, 0])))
    }

    @Test func theZoneAndDaylightSavingShiftIt() async throws {
        let fixture = try await DeviceFixture(.currentTime(timeZone: -20, daylightSaving: 4))
        #expect(try await fixture.read("2A0F") == .value(Data([0xEC, 4])))
        // Five hours west plus one hour of daylight saving: still the last day of 2024.
        #expect(try await time(fixture, at: 60) == .value(Data([0xE8, 0x07, 12, 31, 20, 1, 0, 2, 0, 0])))
        try await fixture.subscribe("2A2B")
        let count = fixture.fixture.events.count
        #expect(try await fixture.write("2A0F", [4, 0]) == .written)
        // The adjust reasons are a change of time zone and of daylight saving.
        #expect(try fixture.values("2A2B", since: count) == [[0xE9, 0x07, 1, 1, 1, 1, 0, 3, 0, 0x0C]])
        #expect(try await fixture.write("2A0F", [57, 0]) == .refused(0xFF))
        #expect(try await fixture.write("2A0F", [0, 3]) == .refused(0xFF))
        #expect(try await fixture.write("2A0F", [0]) == .refused(0x0D))
    }

    @Test func theTimeIsSetAndFieldsThatItCannotKeepAreIgnored() async throws {
        let fixture = try await DeviceFixture(.currentTime)
        try await fixture.subscribe("2A2B")
        let count = fixture.fixture.events.count
        // 29 February 2024, 12:30:15, a Thursday.
        #expect(try await fixture.write("2A2B", [0xE8, 7, 2, 29, 12, 30, 15, 4, 0, 0]) == .written)
        #expect(try fixture.values("2A2B", since: count) == [[0xE8, 7, 2, 29, 12, 30, 15, 4, 0, 0x01]])
        #expect(try await fixture.write("2A2B", [0xE8, 7, 2, 29, 12, 30, 15, 5, 0, 0]) == .refused(0x80))
        #expect(try await fixture.write("2A2B", [0xE8, 7, 2, 29, 12, 30, 16, 0, 9, 0]) == .refused(0x80))
        #expect(try await fixture.read("2A2B") == .value(Data([0xE8, 7, 2, 29, 12, 30, 16, 4, 0, 0])))
        // 29 February 2025, month 13 and hour 24 do not exist.
        #expect(try await fixture.write("2A2B", [0xE9, 7, 2, 29, 12, 30, 15, 0, 0, 0]) == .refused(0xFF))
        #expect(try await fixture.write("2A2B", [0xE9, 7, 13, 1, 12, 30, 15, 0, 0, 0]) == .refused(0xFF))
        #expect(try await fixture.write("2A2B", [0xE9, 7, 1, 1, 24, 30, 15, 0, 0, 0]) == .refused(0xFF))
        #expect(try await fixture.write("2A2B", [0xE9, 7, 1]) == .refused(0x0D))
    }

    @Test func theReferenceSaysWhoSetItAndHowLongAgo() async throws {
        let fixture = try await DeviceFixture(.currentTime)
        #expect(try await fixture.read("2A14") == .value(Data([1, 1, 0, 0])))
        #expect(try await fixture.write("2A2B", [0xE8, 7, 2, 29, 12, 30, 15, 4, 0, 0]) == .written)
        try await fixture.emulator.advance(by: .seconds(27 * 3600))
        #expect(try await fixture.read("2A14") == .value(Data([4, 1, 1, 3])))
        try #require(EmulatedClock(fixture.device)).setTimeOffset(.seconds(5))
        #expect(try await fixture.read("2A14") == .value(Data([1, 1, 0, 0])))
        try await fixture.emulator.advance(by: .seconds(400 * 86_400))
        #expect(try await fixture.read("2A14") == .value(Data([1, 1, 255, 255])))
    }
}
