import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import PlantSensorNative

/// The app without the module, with the sensor of `plants.json`.
@MainActor @Suite(.emulator(.instant)) struct PlantSensorNativeTests {
    private let emulator = Emulator.current
    private let fern: EmulatedDevice

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../plants.json")
        let world = try WorldDescription(contentsOfFile: file.path)
        fern = try emulator.add(try #require(world.devices.first))
    }

    @Test func `The app prints what it measures, and ends`() async throws {
        var lines: [String] = []
        var hasEnded = false
        let monitor = PlantMonitor(limit: 6) { lines.append($0) }
        monitor.onEnd = { hasEnded = $0 == nil }
        await emulator.expect(.didConnect, .didDiscoverCharacteristics, .didDisconnectPeripheral)
        #expect(lines.first?.hasPrefix("found Fern, ") == true)
        #expect(
            lines.dropFirst() == [
                "connected to Fern", "battery 87 %", "soil 24.0 %", "temperature 21.5 °C", "soil 22.0 %", "soil 20.0 %",
                "soil 18.0 %", "the soil is dry: alert",
            ])
        #expect(hasEnded)
        #expect(fern.value(of: "2A06") == Data([2]))
    }

    @Test func `A sensor that was away for an hour is connected again`() async {
        var lines: [String] = []
        let monitor = PlantMonitor { lines.append($0) }
        await expectReadings()
        fern.setProximity(.outOfRange)
        await emulator.expect(.didDisconnectPeripheral.failing)
        await emulator.expectNone(of: .didConnect, for: .seconds(3600))
        fern.setProximity(.near)
        await expectReadings()
        #expect(lines.filter { $0 == "connected to Fern" }.count == 2)
        #expect(lines.last == "temperature 21.5 °C")
        withExtendedLifetime(monitor) {}
    }

    @Test func `The app waits while the adapter is off`() async {
        emulator.host.setPower(false)
        var lines: [String] = []
        let monitor = PlantMonitor { lines.append($0) }
        await emulator.expectNone(of: .didDiscover, for: .seconds(60))
        #expect(lines == ["Bluetooth is off; waiting"])
        emulator.host.setPower(true)
        await expectReadings()
        #expect(lines.last == "temperature 21.5 °C")
        withExtendedLifetime(monitor) {}
    }

    /// Advances until the app is connected and has read the three values.
    private func expectReadings() async {
        await emulator.expect(.didConnect, .didUpdateValue, .didUpdateValue, .didUpdateValue)
    }
}
