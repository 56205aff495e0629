#if os(Linux)
import AsyncBluetooth
import CoreBluetoothTesting
import RestingHeartRate
import Testing

/// Tests of async code in virtual time, in which a minute takes no real time.
///
/// Each test uses its own emulator.
@Suite(.emulator(.instant, world: .builtIn)) struct RestingHeartRateTests {
    private let emulator = Emulator.current
    private let monitor: EmulatedDevice

    init() throws { monitor = try #require(emulator.device(named: "Heart Rate Monitor")) }

    /// The method `run` advances time as far as the app's code needs.
    @Test func aMinuteOfValuesIsAveraged() async throws {
        let average = try await emulator.run { try await RestingHeartRate.average(of: 60) }
        #expect(average.map { (40...120).contains($0) } == true)
        #expect(emulator.now > .seconds(59))
    }

    /// A time limit of the app uses the emulator's time too.
    @Test func whereNoMonitorIsNearTheAppGivesUpAtItsLimit() async throws {
        monitor.setProximity(.outOfRange)
        let error = await #expect(throws: BluetoothError.self) {
            try await emulator.run { try await RestingHeartRate.average(within: .seconds(30)) }
        }
        #expect(error?.operation == .scan)
        #expect(emulator.now >= .seconds(30) && emulator.now < .seconds(31))
    }

    /// The test advances time itself while a task runs the app's code, so that it can act during the app's operation.
    @Test func aMonitorThatLeavesEndsTheMeasurement() async throws {
        let average = Task { try await RestingHeartRate.average(of: 60) }
        await emulator.expect(.didUpdateValue.of("2A37"), within: .seconds(10))
        monitor.disconnect()
        await emulator.expect(.didDisconnectPeripheral, within: .seconds(10))
        await #expect(throws: BluetoothError.self) { try await average.value }
    }
}
#endif
