import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// The delays of the configuration, in addition to the link's own time.
@Suite struct DelayTests {
    /// Returns the time that a command takes in a world without other latency.
    private func duration(
        _ change: (inout EmulatorConfiguration) -> Void, _ command: (LinkID, AttributeID) -> CentralCommand
    ) async throws -> Duration {
        var configuration = EmulatorConfiguration.instant
        change(&configuration)
        let fixture = try await DeviceFixture(.echo, configuration)
        let echo = try #require(fixture.found.characteristics.first).id
        let start = fixture.emulator.now
        let count = fixture.fixture.events.count
        fixture.fixture.submit(command(fixture.link, echo))
        try await fixture.emulator.advance(until: { fixture.fixture.events.count > count })
        return fixture.emulator.now - start
    }

    @Test func eachProcedureTakesItsDelay() async throws {
        #expect(
            try await duration({ $0.readDelay = .milliseconds(30) }) {
                .request(link: $0, operation: op(1), .read($1))
            } == .milliseconds(30))
        #expect(
            try await duration({ $0.writeDelay = .milliseconds(40) }) {
                .request(link: $0, operation: op(1), .write($1, Data([1])))
            } == .milliseconds(40))
        #expect(
            try await duration({ $0.writeDelay = .milliseconds(40) }) {
                .request(link: $0, operation: op(1), .setNotifying($1, true))
            } == .milliseconds(40))
        #expect(
            try await duration({ $0.discoveryDelay = .milliseconds(150) }) { link, _ in
                .request(link: link, operation: op(1), .discoverServices(nil))
            } == .milliseconds(150))
        #expect(
            try await duration({ $0.readDelay = .milliseconds(30) }) {
                .request(link: $0, operation: op(1), .write($1, Data([1])))
            } == .zero)
    }

    @Test func aNotificationTakesItsDelay() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.notificationDelay = .milliseconds(50)
        let fixture = try await DeviceFixture(.battery, configuration)
        try await fixture.subscribe("2A19")
        try #require(EmulatedBattery(fixture.device)).setLevel(3)
        #expect(try await fixture.values("2A19", for: .milliseconds(49)).isEmpty)
        #expect(try await fixture.values("2A19", for: .milliseconds(1)) == [[3]])
    }

    @Test func aScanHearsAfterItsDelayUnlessItIsStopped() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.scanDelay = .seconds(5)
        let fixture = Fixture(configuration)
        try fixture.emulator.add(.battery)
        try await fixture.powerOn()
        let count = fixture.events.count
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .milliseconds(4_999))
        #expect(fixture.events.count == count)
        fixture.submit(.stopScan)
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(fixture.events.count == count)
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .seconds(6))
        #expect(fixture.events.count == count + 1)
    }
}
