import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Health Thermometer Service 1.0, byte by byte.
@Suite struct HealthThermometerTests {
    @Test func aMeasurementHasTheTemperatureAndItsDate() async throws {
        let fixture = try await DeviceFixture(.healthThermometer(temperature: 36.6))
        try await fixture.subscribe("2A1C")
        let start = fixture.emulator.now
        let values = try await fixture.values("2A1C", for: .seconds(10))
        // Flags: Celsius, with a date. 366 with the exponent -1. Virtual time begins on 1 January 2025.
        let seconds = UInt8((start + .seconds(10)) / .seconds(1))
        #expect(values == [[0x02, 0x6E, 0x01, 0x00, 0xFF, 0xE9, 0x07, 1, 1, 0, 0, seconds]])
        #expect(try await fixture.read("2A1D") == .value(Data([2])))
    }

    @Test func theIntermediateTemperatureComesEachSecond() async throws {
        let fixture = try await DeviceFixture(.healthThermometer(temperature: 98.6, isFahrenheit: true))
        try await fixture.subscribe("2A1E")
        #expect(try await fixture.values("2A1E", for: .seconds(1)) == [[0x01, 0xDA, 0x03, 0x00, 0xFF]])
        try #require(EmulatedThermometer(fixture.device)).setTemperature(-0.1)
        #expect(try await fixture.values("2A1E", for: .seconds(1)) == [[0x01, 0xFF, 0xFF, 0xFF, 0xFF]])
    }

    @Test func theIntervalIsChangedWithinItsValidRange() async throws {
        let fixture = try await DeviceFixture(.healthThermometer)
        try await fixture.subscribe("2A1C")
        try await fixture.subscribe("2A21")
        #expect(try await fixture.read("2A21") == .value(Data([10, 0])))
        let count = fixture.fixture.events.count
        #expect(try await fixture.write("2A21", [2, 0]) == .written)
        #expect(try fixture.values("2A21", since: count) == [[2, 0]])
        #expect(try await fixture.values("2A1C", for: .seconds(6)).count == 3)
        // The descriptor Valid Range allows 1...3,600 s; other values are "Out Of Range".
        #expect(try await fixture.write("2A21", [0, 0]) == .refused(0x80))
        #expect(try await fixture.write("2A21", [0x11, 0x0E]) == .refused(0x80))
        #expect(try await fixture.write("2A21", [0x10, 0x0E]) == .written)
        #expect(try await fixture.write("2A21", [1]) == .refused(0x0D))
        #expect(try await validRange(fixture) == Data([1, 0, 0x10, 0x0E]))
    }

    private func validRange(_ fixture: DeviceFixture) async throws -> Data? {
        let interval = try fixture.found.characteristic("2A21")
        let found = try await fixture.fixture.run(
            .request(link: fixture.link, operation: op(7), .discoverDescriptors(of: interval)))
        guard case .response(_, _, .descriptors(let descriptors))? = found.first else { return nil }
        let range = try #require(descriptors.first { $0.uuid == "2906" })
        let events = try await fixture.fixture.run(.request(link: fixture.link, operation: op(8), .read(range.id)))
        guard case .response(_, _, .value(let value))? = events.first else { return nil }
        return value
    }

    @Test func anIntervalOfNothingMeasuresNothing() async throws {
        let fixture = try await DeviceFixture(.healthThermometer(temperature: 36.6, interval: 1))
        try await fixture.subscribe("2A1C")
        #expect(try await fixture.values("2A1C", for: .seconds(3)).count == 3)
        fixture.device.set(.measurementInterval, to: 0)
        #expect(try await fixture.values("2A1C", for: .seconds(3)).isEmpty)
    }
}
