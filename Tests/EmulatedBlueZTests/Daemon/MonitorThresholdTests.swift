import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Signal strengths and times of advertisement monitors.
@Suite struct MonitorThresholdTests {
    private static let device = "dev_C0_DE_00_00_18_0D"

    /// The properties of a monitor that finds devices above -50 dBm after 2 s, and loses them below -70 dBm after 3 s.
    private static let properties: [String: DBusValue] = [
        "RSSIHighThreshold": .int16(-50), "RSSIHighTimeout": .uint16(2), "RSSILowThreshold": .int16(-70),
        "RSSILowTimeout": .uint16(3),
    ]

    private func registered(_ properties: [String: DBusValue] = properties) -> DaemonFixture {
        var fixture = DaemonFixture()
        fixture.call(
            "RegisterMonitor", .objectPath(.constant("/m")), on: DaemonFixture.adapter,
            "org.bluez.AdvertisementMonitorManager1")
        fixture.reply(MonitorTests.monitors(["/m/1"], properties))
        return fixture
    }

    /// Sends a packet each second with these strengths, and returns the calls to the monitor and all reports.
    private func hear(_ strengths: [Int], _ fixture: inout DaemonFixture) -> [String] {
        _ = fixture.lines()
        for rssi in strengths {
            fixture.pass(.seconds(1))
            fixture.hear(DaemonFixture.discovery(rssi: rssi))
        }
        return fixture.lines().filter { !$0.hasPrefix("schedule") }
    }

    // MARK: Devices

    @Test func aWeakDeviceIsNeitherFoundNorReported() {
        var fixture = registered()
        #expect(hear([-60, -60, -60, -60], &fixture).isEmpty)
    }

    @Test func aDeviceIsFoundWhenItWasStrongForTheTimeout() {
        var fixture = registered()
        #expect(hear([-40, -40, -60, -40, -40], &fixture).isEmpty)
        let lines = hear([-40], &fixture)
        #expect(lines.first?.hasPrefix("added \(Self.device)") == true)
        #expect(lines.last == ":1.1 /m/1 DeviceFound \(Self.device)")
    }

    @Test func aDeviceIsLostWhenItWasWeakForTheTimeout() {
        var fixture = registered()
        _ = hear([-40, -40, -40], &fixture)
        let lost = ":1.1 /m/1 DeviceLost \(Self.device)"
        #expect(!hear([-80, -80, -80, -60, -80, -80, -80], &fixture).contains(lost))
        #expect(hear([-80], &fixture) == [lost])
    }

    @Test func aDeviceThatFallsSilentIsLost() {
        var fixture = registered()
        _ = hear([-40, -40], &fixture)
        fixture.pass(.seconds(1))
        fixture.hear(DaemonFixture.discovery(rssi: -40))
        let timers = fixture.outputs.compactMap { output -> DaemonTimer? in
            if case .schedule(let timer, .seconds(3)) = output { timer } else { nil }
        }
        #expect(timers.count == 1)
        fixture.pass(.seconds(1))
        fixture.hear(DaemonFixture.discovery(rssi: -40))
        _ = fixture.lines()
        fixture.pass(.seconds(2))
        for timer in timers { fixture.handle(.timer(timer)) }
        #expect(fixture.lines() == ["schedule 1.0 seconds"], "it was heard a second after the timer began")
        fixture.pass(.seconds(1))
        for timer in timers { fixture.handle(.timer(timer)) }
        #expect(fixture.lines() == [":1.1 /m/1 DeviceLost \(Self.device)"])
        for timer in timers { fixture.handle(.timer(timer)) }
        #expect(fixture.lines().isEmpty, "the timer is void")
    }

    @Test(arguments: [(nil, 1), (0, 6), (20, 3), (255, 1)] as [(UInt16?, Int)])
    func reportsOfADeviceThatIsFoundFollowTheSamplingPeriod(_ period: UInt16?, _ count: Int) {
        var properties = Self.properties
        properties["RSSISamplingPeriod"] = period.map(DBusValue.uint16)
        var fixture = registered(properties)
        let lines = hear([-40, -40, -40, -41, -42, -43, -44, -45], &fixture)
        #expect(lines.filter { $0.contains(Self.device) && !$0.contains("DeviceFound") }.count == count, "\(lines)")
    }

    @Test func aMonitorLooksAfterALimitedNumberOfDevices() {
        var monitor = AdvertisementMonitors.Monitor(
            path: .constant("/m"), patterns: [], thresholds: try? MonitorThresholds.thresholds(Self.properties))
        for number in 0..<UInt64(2 * DaemonLimits.monitoredDevices) {
            var discovery = DaemonFixture.discovery(rssi: -40)
            discovery.peer = PeerID(UUID())
            _ = monitor.hear(discovery, at: .milliseconds(Int64(number)))
        }
        #expect(monitor.devices.count == DaemonLimits.monitoredDevices)
        _ = monitor.hear(DaemonFixture.discovery(), at: .seconds(60))
        #expect(monitor.devices.count == 1, "what was not found and is not heard any longer makes room")
    }

    // MARK: Monitors

    @Test(
        arguments: [
            ["RSSIHighThreshold": .int16(-50), "RSSILowThreshold": .int16(-30)], ["RSSIHighThreshold": .int16(21)],
            ["RSSIHighThreshold": .uint16(1)], ["RSSIHighTimeout": .uint16(301)], ["RSSILowTimeout": .int16(1)],
            ["RSSISamplingPeriod": .uint16(300)], ["Type": .string("and_patterns")], ["Type": .uint16(1)],
            ["Patterns": .array(.structure([.byte, .byte, .array(.byte)]), [])],
            ["Patterns": patterns([(31, 9, [1])])], ["Patterns": patterns([(0, 0x3E, [1])])],
            ["Patterns": patterns([(0, 9, [1]), (0, 9, [])])], ["Patterns": .string("x")],
        ] as [[String: DBusValue]])
    func anInvalidMonitorIsReleased(_ properties: [String: DBusValue]) {
        var fixture = registered(properties)
        #expect(fixture.lines().last == ":1.1 /m/1 Release")
    }

    private static func patterns(_ patterns: [(UInt8, UInt8, [UInt8])]) -> DBusValue {
        .array(
            .structure([.byte, .byte, .array(.byte)]),
            patterns.map { .structure([.byte($0.0), .byte($0.1), .bytes($0.2)]) })
    }

    @Test func valuesThatMeanNoneAreNoThresholds() throws {
        let unset: [String: DBusValue] = [
            "RSSIHighThreshold": .int16(127), "RSSILowThreshold": .int16(127), "RSSIHighTimeout": .uint16(0),
            "RSSILowTimeout": .uint16(0), "RSSISamplingPeriod": .uint16(256),
        ]
        #expect(try MonitorThresholds.thresholds(unset) == nil)
        let low = try #require(try MonitorThresholds.thresholds(["RSSILowThreshold": .int16(-60)]))
        #expect((low.high, low.low) == (-60, -60))
        #expect((low.highTimeout, low.lowTimeout) == (.seconds(10), .seconds(5)))
    }

    @Test func theMonitorsOfARootAreReleasedWithIt() {
        var fixture = registered()
        _ = fixture.lines()
        fixture.call(
            "UnregisterMonitor", .objectPath(.constant("/m")), on: DaemonFixture.adapter,
            "org.bluez.AdvertisementMonitorManager1")
        #expect(fixture.lines() == [":1.1 /m/1 Release", "central stopScan", "answer 2"])
    }

    @Test func aPatternMatchesStructuresOfAnyType() throws {
        let value = DBusValue.structure([.byte(1), .byte(0x26), .bytes([2])])
        let pattern = try #require(MonitorPattern(value))
        let structure = AdvertisingStructure(type: 0x26, data: Data([1, 2]))
        #expect(pattern.matches(Advertisement(otherStructures: [structure])))
        #expect(!pattern.matches(Advertisement(manufacturerData: Data([1, 2]))))
    }
}
