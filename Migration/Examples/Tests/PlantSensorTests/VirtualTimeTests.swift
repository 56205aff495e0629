import CoreBluetoothMock
import CoreBluetoothTesting
import SimulatedSensors
import Testing

@testable import PlantSensor

/// The same app in virtual time: a minute takes no time, and the tests run in parallel, each in a separate world.
@MainActor @Suite(.emulator()) struct VirtualTimeTests {
    private let emulator = Emulator.current
    private let delegate = SensorSpecDelegate()
    private let fern: CBMPeripheralSpec

    init() {
        fern = makeFern(delegate)
        CBMCentralManagerMock.simulatePeripherals([fern, thermometer])
        CBMCentralManagerMock.simulatePowerOn()
    }

    @Test func `The app prints what it measures, and ends`() async throws {
        var lines: [String] = []
        var hasEnded = false
        let monitor = PlantMonitor(limit: 3) { lines.append($0) }
        monitor.onEnd = { hasEnded = $0 == nil }
        try await emulator.advance(by: .seconds(5))
        #expect(
            lines == [
                "found Fern, \(fern.identifier)", "connected to Fern", "battery 87 %", "soil 24.0 %",
                "temperature 21.5 °C",
            ])
        #expect(hasEnded)
        #expect(!fern.isConnected)
    }

    @Test func `The sensor alerts while the soil is dry`() async throws {
        var lines: [String] = []
        let monitor = PlantMonitor { lines.append($0) }
        try await emulator.advance(by: .seconds(5))
        #expect(delegate.alert == 0)
        fern.simulateValueUpdate(Data(19_00), for: .humidity)
        try await emulator.advance(by: .seconds(1))
        #expect(delegate.alert == 2)
        fern.simulateValueUpdate(Data(60_00), for: .humidity)
        try await emulator.advance(by: .seconds(1))
        #expect(delegate.alert == 0)
        #expect(lines.suffix(4) == ["soil 19.0 %", "the soil is dry: alert", "soil 60.0 %", "the soil is wet again"])
        withExtendedLifetime(monitor) {}
    }

    @Test func `A sensor that was away for an hour is connected again`() async throws {
        var lines: [String] = []
        let monitor = PlantMonitor { lines.append($0) }
        try await emulator.advance(by: .seconds(5))
        fern.simulateProximityChange(.outOfRange)
        try await emulator.advance(by: .seconds(3600))
        #expect(lines.last?.hasPrefix("connection lost: ") == true)
        #expect(!fern.isConnected)
        fern.simulateProximityChange(.far)
        try await emulator.advance(by: .seconds(5))
        #expect(lines.suffix(4) == ["connected to Fern", "battery 87 %", "soil 24.0 %", "temperature 21.5 °C"])
        withExtendedLifetime(monitor) {}
    }
}
