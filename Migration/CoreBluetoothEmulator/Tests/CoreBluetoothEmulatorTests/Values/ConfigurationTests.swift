import BluetoothEmulator
import Testing

@testable import CoreBluetoothEmulator

/// The module's type; the emulator's module has a type of this name too.
private typealias Settings = CoreBluetoothEmulator.EmulatorConfiguration

@Suite struct ConfigurationTests {
    @Test func `the presets differ as their names say`() {
        #expect(Settings.default.stateUpdateDelay == 0.1)
        #expect(Settings.instant.readDelay == 0)
        #expect(Settings.slow.defaultMTU == 23)
        #expect(Settings.slow.simulateBackpressure)
        #expect(Settings.unreliable.connectionFailureRate == 0.2)
        #expect(!Settings.unreliable.pairingSucceeds)
        #expect(Settings(readDelay: 9).readDelay == 9)
        #expect(!Settings.default.followsApple)
    }

    @Test func `each delay is that of its step`() {
        var configuration = Settings.instant
        #expect(configuration.faults.isEmpty)
        configuration.serviceDiscoveryDelay = 1
        configuration.characteristicDiscoveryDelay = 2
        configuration.descriptorDiscoveryDelay = 3
        configuration.writeDelay = 4
        let delays: [DeviceFault.Step: Duration] = [
            .discoverServices: .seconds(1), .discoverIncludedServices: .seconds(1),
            .discoverCharacteristics: .seconds(2), .discoverDescriptors: .seconds(3), .write: .seconds(4),
        ]
        #expect(configuration.faults == configuration.faults.map { DeviceFault($0.step, $0.effect, count: nil) })
        for fault in configuration.faults { #expect(fault.effect == .delay(delays[fault.step] ?? .zero)) }
        #expect(configuration.faults.count == delays.count)
        configuration.readDelay = 5
        configuration.notificationDelay = 6
        configuration.connectionDelay = 7
        configuration.disconnectionDelay = 8
        configuration.stateUpdateDelay = 9
        #expect(configuration.backend.readDelay == .seconds(5))
        #expect(configuration.backend.notificationDelay == .seconds(6))
        #expect(configuration.backend.connectionDelay == .seconds(7))
        #expect(configuration.backend.disconnectionDelay == .seconds(8))
        #expect(configuration.backend.stateDelay == .seconds(9))
    }

    @Test func `chances count only where they are simulated`() {
        var configuration = Settings.default
        configuration.connectionFailureRate = 0.5
        configuration.readWriteErrorRate = 7
        #expect(configuration.backend.connectionFailureRate == 0)
        #expect(configuration.backend.operationErrorRate == 0)
        configuration.simulateConnectionFailure = true
        configuration.simulateReadWriteErrors = true
        #expect(configuration.backend.connectionFailureRate == 0.5)
        #expect(configuration.backend.operationErrorRate == 1)
    }

    @Test func `values outside of their ranges are the nearest within`() {
        var configuration = Settings.default
        configuration.readDelay = -1
        configuration.connectionDelay = .nan
        configuration.disconnectionDelay = .infinity
        configuration.defaultMTU = 5
        configuration.maximumMTU = 5_000
        configuration.scanDiscoveryInterval = 0
        configuration.rssiVariation = -4
        #expect(configuration.backend.readDelay == .zero)
        #expect(configuration.backend.connectionDelay == .zero)
        #expect(configuration.backend.disconnectionDelay == .seconds(1e9))
        #expect(configuration.initialMTU == 23)
        #expect(configuration.agreedMTU(9_999) == 517)
        #expect(configuration.advertisingInterval == .milliseconds(20))
        #expect(configuration.backend.rssiDeviation == 0)
        configuration.scanDiscoveryInterval = 60
        #expect(configuration.advertisingInterval == .milliseconds(10_240))
    }

    @Test func `pairing takes no time unless it is simulated`() {
        var configuration = Settings.default
        configuration.pairingSucceeds = false
        #expect(configuration.pairing == (.zero, true))
        configuration.simulatePairing = true
        #expect(configuration.pairing == (.milliseconds(500), false))
        #expect(configuration.faults.contains { $0.step == .pair })
    }

    @Test func `the environment sets time and seed of the process's world`() {
        #expect(WorldEnvironment([:]) == WorldEnvironment(["COREBLUETOOTH_EMULATOR_TIME": "fast"]))
        let environment = WorldEnvironment([
            "COREBLUETOOTH_EMULATOR_TIME": "10", "COREBLUETOOTH_EMULATOR_SEED": "7",
        ])
        #expect(environment.time == .scaled(by: 10))
        #expect(environment.seed == 7)
        #expect(WorldEnvironment(["COREBLUETOOTH_EMULATOR_TIME": "1"]).time == .real)
        #expect(WorldEnvironment(["COREBLUETOOTH_EMULATOR_SEED": "x"]).seed == 1)
    }
}
