import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// The delays of the configuration, besides the link's own time.
@Suite struct DelayTests {
    /// How long a command takes in a world without other latency.
    private func duration(
        _ change: (inout EmulatorConfiguration) -> Void, _ command: (LinkID, AttributeID) -> CentralCommand
    ) async throws -> Duration {
        var configuration = EmulatorConfiguration.instant
        change(&configuration)
        let stage = try await DeviceStage(.echo, configuration)
        let echo = try #require(stage.found.characteristics.first).id
        let start = stage.emulator.now
        let count = stage.stage.events.count
        stage.stage.submit(command(stage.link, echo))
        try await stage.emulator.advance(until: { stage.stage.events.count > count })
        return stage.emulator.now - start
    }

    @Test func eachProcedureTakesItsDelay() async throws {
        #expect(
            try await duration({ $0.readDelay = .milliseconds(30) }) {
                .read(link: $0, operation: op(1), attribute: $1)
            } == .milliseconds(30))
        #expect(
            try await duration({ $0.writeDelay = .milliseconds(40) }) {
                .write(link: $0, operation: op(1), attribute: $1, value: Data([1]))
            } == .milliseconds(40))
        #expect(
            try await duration({ $0.writeDelay = .milliseconds(40) }) {
                .setNotifying(link: $0, operation: op(1), attribute: $1, enabled: true)
            } == .milliseconds(40))
        #expect(
            try await duration({ $0.discoveryDelay = .milliseconds(150) }) { link, _ in
                .discoverServices(link: link, operation: op(1), uuids: nil)
            } == .milliseconds(150))
        #expect(
            try await duration({ $0.readDelay = .milliseconds(30) }) {
                .write(link: $0, operation: op(1), attribute: $1, value: Data([1]))
            } == .zero)
    }

    @Test func aNotificationTakesItsDelay() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.notificationDelay = .milliseconds(50)
        let stage = try await DeviceStage(.battery, configuration)
        try await stage.subscribe("2A19")
        stage.device.setBatteryLevel(3)
        #expect(try await stage.values("2A19", for: .milliseconds(49)).isEmpty)
        #expect(try await stage.values("2A19", for: .milliseconds(1)) == [[3]])
    }

    @Test func aScanHearsAfterItsDelayUnlessItIsStopped() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.scanDelay = .seconds(5)
        let stage = Stage(configuration)
        try stage.emulator.add(.battery)
        try await stage.powerOn()
        let count = stage.events.count
        stage.submit(.startScan(ScanParameters()))
        try await stage.emulator.advance(by: .milliseconds(4_999))
        #expect(stage.events.count == count)
        stage.submit(.stopScan)
        try await stage.emulator.advance(by: .seconds(5))
        #expect(stage.events.count == count)
        stage.submit(.startScan(ScanParameters()))
        try await stage.emulator.advance(by: .seconds(6))
        #expect(stage.events.count == count + 1)
    }
}
