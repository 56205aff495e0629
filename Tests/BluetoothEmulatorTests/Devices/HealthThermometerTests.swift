import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Health Thermometer Service 1.0, byte by byte.
@Suite struct HealthThermometerTests {
    @Test func aMeasurementHasTheTemperatureAndItsDate() async throws {
        let stage = try await DeviceStage(.healthThermometer(temperature: 36.6))
        try await stage.subscribe("2A1C")
        let start = stage.emulator.now
        let values = try await stage.values("2A1C", for: .seconds(10))
        // Flags: Celsius, with a date. 366 with the exponent -1. Virtual time begins on 1 January 2025.
        let seconds = UInt8((start + .seconds(10)) / .seconds(1))
        #expect(values == [[0x02, 0x6E, 0x01, 0x00, 0xFF, 0xE9, 0x07, 1, 1, 0, 0, seconds]])
        #expect(try await stage.read("2A1D") == .value(Data([2])))
    }

    @Test func theIntermediateTemperatureComesEachSecond() async throws {
        let stage = try await DeviceStage(.healthThermometer(temperature: 98.6, isFahrenheit: true))
        try await stage.subscribe("2A1E")
        #expect(try await stage.values("2A1E", for: .seconds(1)) == [[0x01, 0xDA, 0x03, 0x00, 0xFF]])
        stage.device.setTemperature(-0.1)
        #expect(try await stage.values("2A1E", for: .seconds(1)) == [[0x01, 0xFF, 0xFF, 0xFF, 0xFF]])
    }

    @Test func theIntervalIsChangedWithinItsValidRange() async throws {
        let stage = try await DeviceStage(.healthThermometer)
        try await stage.subscribe("2A1C")
        try await stage.subscribe("2A21")
        #expect(try await stage.read("2A21") == .value(Data([10, 0])))
        let count = stage.stage.events.count
        #expect(try await stage.write("2A21", [2, 0]) == .written)
        #expect(try stage.values("2A21", since: count) == [[2, 0]])
        #expect(try await stage.values("2A1C", for: .seconds(6)).count == 3)
        // 1...3,600 s, as the descriptor Valid Range says; else "Out Of Range".
        #expect(try await stage.write("2A21", [0, 0]) == .refused(0x80))
        #expect(try await stage.write("2A21", [0x11, 0x0E]) == .refused(0x80))
        #expect(try await stage.write("2A21", [0x10, 0x0E]) == .written)
        #expect(try await stage.write("2A21", [1]) == .refused(0x0D))
        #expect(try await validRange(stage) == Data([1, 0, 0x10, 0x0E]))
    }

    private func validRange(_ stage: DeviceStage) async throws -> Data? {
        let interval = try stage.found.characteristic("2A21")
        let found = try await stage.stage.run(
            .discoverDescriptors(link: stage.link, operation: op(7), characteristic: interval))
        guard case .descriptorsDiscovered(_, _, let descriptors)? = found.first else { return nil }
        let range = try #require(descriptors.first { $0.uuid == "2906" })
        let told = try await stage.stage.run(.read(link: stage.link, operation: op(8), attribute: range.id))
        guard case .valueRead(_, _, let value)? = told.first else { return nil }
        return value
    }

    @Test func anIntervalOfNothingMeasuresNothing() async throws {
        let stage = try await DeviceStage(.healthThermometer(temperature: 36.6, interval: 1))
        try await stage.subscribe("2A1C")
        #expect(try await stage.values("2A1C", for: .seconds(3)).count == 3)
        stage.device.set(.measurementInterval, to: 0)
        #expect(try await stage.values("2A1C", for: .seconds(3)).isEmpty)
    }
}
