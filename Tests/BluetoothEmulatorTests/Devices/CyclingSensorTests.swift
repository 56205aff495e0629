import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Cycling Speed and Cadence Service 1.0, byte by byte.
@Suite struct CyclingSensorTests {
    private func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    @Test func aMeasurementHasBothCountsAndTheirInstants() async throws {
        let fixture = try await DeviceFixture(.cyclingSpeedAndCadence(cadence: 90, wheelRate: 240))
        try await fixture.subscribe("2A5B")
        let values = try await fixture.values("2A5B", for: .seconds(2))
        #expect(values.map(\.count) == [11, 11])
        #expect(values.map { $0[0] } == [0x03, 0x03])
        // 240 per minute are four per second, so two of their instants are 1,024 units apart.
        #expect(number(values[1][1...4]) - number(values[0][1...4]) == 4)
        #expect((number(values[1][5...6]) - number(values[0][5...6])) & 0xFFFF == 1024)
        // 90 per minute: three in two seconds, 682.7 units apart.
        let turns = number(values[1][7...8]) - number(values[0][7...8])
        let time = (number(values[1][9...10]) - number(values[0][9...10])) & 0xFFFF
        #expect((1...2).contains(turns))
        #expect(abs(time - turns * 683) <= 1)
    }

    @Test func whatStandsKeepsItsCountAndInstant() async throws {
        let fixture = try await DeviceFixture(.cyclingSpeedAndCadence)
        try await fixture.subscribe("2A5B")
        _ = try await fixture.values("2A5B", for: .seconds(3))
        try #require(EmulatedCyclingSensor(fixture.device)).pedal(cadence: 0, wheelRate: 0)
        let values = try await fixture.values("2A5B", for: .seconds(3))
        #expect(values.count == 3)
        #expect(Set(values).count == 1)
    }

    @Test func theInstantStartsOverAfter64Seconds() async throws {
        let fixture = try await DeviceFixture(.cyclingSpeedAndCadence(cadence: 0, wheelRate: 60))
        try await fixture.subscribe("2A5B")
        let values = try await fixture.values("2A5B", for: .seconds(130))
        let counts = values.map { number($0[1...4]) }
        let instants = values.map { number($0[5...6]) }
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $1 - $0 == 1 })
        #expect(zip(instants, instants.dropFirst()).allSatisfy { ($1 - $0) & 0xFFFF == 1024 })
        #expect(zip(instants, instants.dropFirst()).contains { $1 < $0 })
    }

    @Test func theControlPointWantsItsIndications() async throws {
        let fixture = try await DeviceFixture(.cyclingSpeedAndCadence)
        #expect(try await fixture.write("2A55", [4]) == .refused(0x81))
        try await fixture.subscribe("2A55")
        let count = fixture.fixture.events.count
        #expect(try await fixture.write("2A55", [4]) == .written)
        #expect(try fixture.values("2A55", since: count) == [[0x10, 4, 1, 12, 4, 5, 6, 11, 13]])
    }

    @Test func theControlPointSetsTheCountAndTheLocation() async throws {
        let fixture = try await DeviceFixture(.cyclingSpeedAndCadence(cadence: 0, wheelRate: 0))
        try await fixture.subscribe("2A55")
        try await fixture.subscribe("2A5B")
        let count = fixture.fixture.events.count
        for order: [UInt8] in [[1, 0x44, 0x33, 0x22, 0x11], [3, 13], [3, 99], [2], [1, 0], [0x77]] {
            #expect(try await fixture.write("2A55", order) == .written)
        }
        let responses: [[UInt8]] = [
            [0x10, 1, 1], [0x10, 3, 1], [0x10, 3, 3], [0x10, 2, 2], [0x10, 1, 3], [0x10, 0x77, 2],
        ]
        #expect(try fixture.values("2A55", since: count) == responses)
        #expect(try await fixture.read("2A5D") == .value(Data([13])))
        #expect(try await fixture.values("2A5B", for: .seconds(1)).last?[1...4] == [0x44, 0x33, 0x22, 0x11])
        #expect(try await fixture.read("2A5C") == .value(Data([0x07, 0x00])))
    }

    @Test func aSecondProcedureIsRefusedWhileOneRuns() async throws {
        let fixture = try await DeviceFixture(.cyclingSpeedAndCadence)
        try await fixture.subscribe("2A55")
        let point = try fixture.found.characteristic("2A55")
        let events = try await fixture.fixture.run(
            .request(link: fixture.link, operation: op(4), .write(point, Data([4]))),
            .request(link: fixture.link, operation: op(5), .write(point, Data([4]))))
        #expect(events.first == .response(link: fixture.link, operation: op(4), .written))
        guard case .response(_, op(5), .failure(let error)) = events[1] else { throw Unexpected(events[1]) }
        #expect(error.attCode == 0x80)
        #expect(try await fixture.write("2A55", [4]) == .written)
    }
}
