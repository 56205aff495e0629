import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Advertisement monitors that clients register.
@Suite struct MonitorTests {
    /// The monitors of a client, for names that begin with "Hea".
    static func monitors(_ paths: [String], _ further: [String: DBusValue] = [:]) -> DBusValue {
        let pattern = DBusValue.structure([.byte(0), .byte(0x09), .bytes(Array("Hea".utf8))])
        return ServingTests.objects(
            paths.map { path in
                (
                    path, "org.bluez.AdvertisementMonitor1",
                    ["Type": .string("or_patterns"), "Patterns": .array(pattern.type, [pattern])]
                        .merging(further) { $1 }
                )
            })
    }

    private static func register(_ fixture: inout DaemonFixture, _ paths: [String] = ["/m/1"]) {
        fixture.call(
            "RegisterMonitor", .objectPath(.constant("/m")), on: DaemonFixture.adapter,
            "org.bluez.AdvertisementMonitorManager1")
        fixture.reply(monitors(paths))
    }

    /// Withdraws the object of a monitor.
    private static func withdraw(_ path: String, _ fixture: inout DaemonFixture, from sender: String = ":1.1") {
        fixture.withdraw(path, AdvertisementMonitors.interface, of: "/m", from: sender)
    }

    @Test func aClientHasSixtyFourRootsOfMonitorsAtMost() {
        var fixture = DaemonFixture()
        for number in 0..<65 {
            fixture.call(
                "RegisterMonitor", .objectPath(.constant("/m\(number)")), on: DaemonFixture.adapter,
                "org.bluez.AdvertisementMonitorManager1")
        }
        let lines = fixture.lines()
        #expect(lines.contains("answer 64"))
        #expect(lines.last == "refuse 65 NotPermitted: Maximum monitors reached")
    }

    @Test func aMonitorHearsWithoutADiscovery() {
        var fixture = DaemonFixture()
        Self.register(&fixture)
        #expect(
            fixture.lines() == [
                "watch :1.1", "answer 1", ":1.1 /m GetManagedObjects", "central startScan", ":1.1 /m/1 Activate",
            ])
        fixture.hear()
        fixture.hear(DaemonFixture.discovery(name: "Other"))
        let lines = fixture.lines()
        #expect(lines.contains(":1.1 /m/1 DeviceFound dev_C0_DE_00_00_18_0D"))
        fixture.handle(.clientLeft(":1.1"))
        #expect(fixture.lines() == ["central stopScan"])
    }

    // MARK: Power

    @Test func aMonitorHearsAgainWhenThePowerReturns() {
        var fixture = DaemonFixture()
        Self.register(&fixture)
        fixture.report(.stateChanged(.poweredOff))
        _ = fixture.lines()
        fixture.report(.stateChanged(.poweredOn))
        #expect(fixture.lines() == ["central startScan", "hci0 Powered=true"])
    }

    @Test func aMonitorThatIsRegisteredWithoutPowerHearsWhenItReturns() {
        var fixture = DaemonFixture()
        fixture.report(.stateChanged(.poweredOff))
        Self.register(&fixture)
        #expect(!fixture.lines().contains("central startScan"))
        fixture.report(.stateChanged(.poweredOn))
        #expect(fixture.lines().contains("central startScan"))
    }

    @Test func monitorsLoseTheirDevicesWithThePowerAndFindThemAgain() {
        var fixture = DaemonFixture()
        Self.register(&fixture)
        fixture.hear()
        _ = fixture.lines()
        fixture.report(.stateChanged(.poweredOff))
        #expect(fixture.lines().contains(":1.1 /m/1 DeviceLost dev_C0_DE_00_00_18_0D"))
        fixture.report(.stateChanged(.poweredOn))
        fixture.hear()
        #expect(fixture.lines().contains(":1.1 /m/1 DeviceFound dev_C0_DE_00_00_18_0D"))
    }

    // MARK: Objects

    @Test func theScanEndsWithTheObjectOfTheLastMonitor() {
        var fixture = DaemonFixture()
        Self.register(&fixture, ["/m/1", "/m/2"])
        _ = fixture.lines()
        Self.withdraw("/m/1", &fixture)
        #expect(fixture.lines().isEmpty)
        Self.withdraw("/m/2", &fixture, from: ":1.2")
        #expect(fixture.lines().isEmpty, "the object of another client")
        Self.withdraw("/m/2", &fixture)
        #expect(fixture.lines() == ["central stopScan"])
    }

    @Test func aMonitorWhoseObjectIsWithdrawnFindsNothing() {
        var fixture = DaemonFixture()
        Self.register(&fixture, ["/m/1", "/m/2"])
        Self.withdraw("/m/1", &fixture)
        _ = fixture.lines()
        fixture.hear()
        #expect(fixture.lines().filter { $0.contains("DeviceFound") }.map { $0.prefix(9) } == [":1.1 /m/2"])
    }
}
