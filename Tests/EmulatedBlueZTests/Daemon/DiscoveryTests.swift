import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Discovery sessions, filters and reports, as in `bluetoothd`.
@Suite struct DiscoveryTests {
    private func properties(_ values: [String: DBusValue]) -> DBusValue { .properties(values) }

    @Test func aClientHasOneSession() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.call("StartDiscovery")
        fixture.call("StopDiscovery")
        fixture.call("StopDiscovery")
        #expect(
            fixture.lines() == [
                "central startScan", "hci0 Discovering=true", "answer 1",
                "refuse 2 InProgress: Operation already in progress",
                "central stopScan", "hci0 Discovering=false", "answer 3",
                "refuse 4 Failed: No discovery started",
            ])
    }

    @Test func theLastSessionEndsTheDiscovery() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery", from: ":1.1")
        fixture.call("StartDiscovery", from: ":1.2")
        _ = fixture.lines()
        fixture.call("StopDiscovery", from: ":1.1")
        #expect(fixture.lines() == ["answer 3"])
        fixture.handle(.clientLeft(":1.2"))
        #expect(fixture.lines() == ["central stopScan", "hci0 Discovering=false"])
    }

    @Test func aNewDeviceIsAnnouncedWithAllThatWasHeardAtOnce() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        _ = fixture.lines()
        let (first, second) = (DaemonFixture.discovery(name: nil), DaemonFixture.discovery(rssi: -61))
        fixture.handle(.central(adapter: 0, .discovered(first)), .central(adapter: 0, .discovered(second)))
        #expect(fixture.lines() == ["schedule 30.0 seconds", "added dev_C0_DE_00_00_18_0D Device1"])
        let device = fixture.context.tree.properties(of: "org.bluez.Device1", at: .constant(DaemonFixture.device))
        #expect(device?["Name"] == .string("Heart"))
        #expect(device?["Alias"] == .string("Heart"))
        #expect(device?["RSSI"] == .int16(-60), "reports in quick succession count as one")
        #expect(device?["UUIDs"] == .strings(["0000180d-0000-1000-8000-00805f9b34fb"]))
    }

    @Test func withoutAFilterOnlyAChangeOfEightDecibelsIsReported() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear()
        _ = fixture.lines()
        for rssi in [-60, -67, -68] {
            fixture.pass(.seconds(1))
            fixture.hear(DaemonFixture.discovery(rssi: rssi))
        }
        #expect(fixture.lines() == ["dev_C0_DE_00_00_18_0D RSSI=-68"])
    }

    @Test func withAFilterEachPacketIsReportedTenTimesASecondAtMost() {
        var fixture = DaemonFixture()
        fixture.call("SetDiscoveryFilter", properties(["Transport": .string("le")]))
        fixture.call("StartDiscovery")
        fixture.hear()
        _ = fixture.lines()
        for _ in 0..<10 {
            fixture.pass(.milliseconds(50))
            fixture.hear()
        }
        #expect(fixture.lines() == Array(repeating: "dev_C0_DE_00_00_18_0D RSSI=-60", count: 5))
    }

    @Test func aDeviceIsReportedIfAnyFilterLetsItThrough() {
        var fixture = DaemonFixture()
        fixture.call("SetDiscoveryFilter", properties(["UUIDs": .strings(["180F"])]), from: ":1.1")
        fixture.call("StartDiscovery", from: ":1.1")
        fixture.hear()
        #expect(!fixture.lines().contains { $0.hasPrefix("added") })
        fixture.call("SetDiscoveryFilter", properties(["RSSI": .int16(-70)]), from: ":1.2")
        fixture.call("StartDiscovery", from: ":1.2")
        fixture.hear(DaemonFixture.discovery(rssi: -71))
        #expect(!fixture.lines().contains { $0.hasPrefix("added") })
        fixture.hear(DaemonFixture.discovery(rssi: -70))
        #expect(fixture.lines().contains { $0.hasPrefix("added") })
    }

    @Test func impossibleFiltersAreRefused() {
        var fixture = DaemonFixture()
        let filters: [[String: DBusValue]] = [
            ["Unknown": .boolean(true)], ["RSSI": .string("-70")], ["UUIDs": .strings(["x"])],
            ["RSSI": .int16(-70), "Pathloss": .uint16(50)], ["Transport": .string("controller")],
        ]
        for filter in filters { fixture.call("SetDiscoveryFilter", properties(filter)) }
        #expect(fixture.lines().allSatisfy { $0.contains("InvalidArguments") })
    }

    @Test func theStrengthIsUnknownAfterTheDiscovery() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear()
        _ = fixture.lines()
        fixture.call("StopDiscovery")
        #expect(
            fixture.lines() == [
                "central stopScan", "dev_C0_DE_00_00_18_0D -RSSI", "hci0 Discovering=false", "answer 2",
            ])
    }

    @Test func aDeviceThatCannotBeConnectedToIsForgottenAtTheEndOfTheDiscovery() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear(DaemonFixture.discovery(isConnectable: false))
        _ = fixture.lines()
        fixture.call("StopDiscovery")
        #expect(fixture.lines().contains("removed dev_C0_DE_00_00_18_0D"))
    }

    @Test func aDeviceIsForgottenHalfAMinuteAfterItsLastPacket() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear()
        fixture.pass(.seconds(20))
        fixture.hear(DaemonFixture.discovery(rssi: -80))
        _ = fixture.lines()
        fixture.pass(.seconds(10))
        fixture.handle(.timer(.temporary(adapter: 0, DaemonFixture.peer)))
        #expect(fixture.lines() == ["schedule 20.0 seconds"])
        fixture.pass(.seconds(20))
        fixture.handle(.timer(.temporary(adapter: 0, DaemonFixture.peer)))
        #expect(fixture.lines() == ["removed dev_C0_DE_00_00_18_0D"])
    }

    @Test func dataOfSeveralCompaniesAddsUpWithoutDuplicates() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear(DaemonFixture.discovery(manufacturerData: Data([0x4C, 0x00, 1])))
        fixture.hear(DaemonFixture.discovery(manufacturerData: Data([0xFF, 0xFF, 2])))
        let device = fixture.context.tree.properties(of: "org.bluez.Device1", at: .constant(DaemonFixture.device))
        #expect(device?["ManufacturerData"].map(DaemonFixture.text) == "{76:0x01 65535:0x02}")
    }

    @Test func anAdapterWithoutPowerIsNotReady() {
        var fixture = DaemonFixture()
        fixture.report(.stateChanged(.poweredOff))
        _ = fixture.lines()
        fixture.call("StartDiscovery")
        fixture.call("SetDiscoveryFilter", properties([:]))
        #expect(fixture.lines().allSatisfy { $0.hasSuffix("NotReady: Resource Not Ready") })
    }

    // MARK: BlueZ 5.87

    @Test func aPatternMayConnect() {
        func connects(_ dialect: BlueZDialect, _ filter: [String: DBusValue], isConnectable: Bool = true) -> String? {
            var fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
            fixture.call("SetDiscoveryFilter", properties(filter))
            fixture.call("StartDiscovery")
            let first = fixture.lines().first
            fixture.hear(DaemonFixture.discovery(isConnectable: isConnectable))
            fixture.hear(DaemonFixture.discovery(isConnectable: isConnectable))
            return first?.hasPrefix("refuse") == true ? first : fixture.lines().first { $0 == "central connect" }
        }
        let filter: [String: DBusValue] = ["Pattern": .string("c0:de"), "AutoConnect": .boolean(true)]
        #expect(connects(.bluez5_82, filter) == "refuse 1 InvalidArguments: Invalid arguments in method call")
        #expect(connects(.bluez5_87, filter) == "central connect")
        #expect(connects(.bluez5_87, filter, isConnectable: false) == nil)
        #expect(connects(.bluez5_87, ["AutoConnect": .boolean(true)]) == nil)
        #expect(connects(.bluez5_87, ["Pattern": .string("C1"), "AutoConnect": .boolean(true)]) == nil)
    }

    @Test(arguments: [(BlueZDialect.bluez5_82, false), (.bluez5_87, true)])
    func theLetterCaseOfAnAddressCountsInEarlierVersions(_ dialect: BlueZDialect, _ isHeard: Bool) {
        var fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
        fixture.call("SetDiscoveryFilter", properties(["Pattern": .string("c0:de")]))
        fixture.call("StartDiscovery")
        fixture.hear()
        #expect(fixture.context.tree.has("org.bluez.Device1", at: .constant(DaemonFixture.device)) == isHeard)
    }
}
