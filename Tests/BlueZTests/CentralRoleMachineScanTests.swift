#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct CentralRoleMachineScanTests {
    private typealias Fixture = CentralRoleFixture
    private var fixture = CentralRoleFixture.poweredOn()

    private var names: [String?] {
        fixture.events.map { event in
            if case .discovered(let discovery) = event { discovery.advertisement.localName } else { "not a report" }
        }
    }

    private mutating func scan(_ parameters: ScanParameters = ScanParameters(), by manager: Int = 1) {
        fixture.command(.startScan(parameters), from: manager)
        fixture.answerDiscovery()
    }

    @Test mutating func oneScanServesAllManagers() {
        fixture.input(.activated(2))
        scan(ScanParameters(services: [BluetoothUUID(0x180D)]))
        fixture.command(.startScan(ScanParameters(services: [BluetoothUUID(0x180F)], allowDuplicates: true)), from: 2)
        #expect(fixture.answer("StopDiscovery") != nil)
        let filter = fixture.answer("SetDiscoveryFilter")?.body.first?.propertiesValue
        #expect(
            filter?["UUIDs"]
                == .strings(["0000180d-0000-1000-8000-00805f9b34fb", "0000180f-0000-1000-8000-00805f9b34fb"]))
        #expect(filter?["DuplicateData"] == .boolean(true))
        #expect(fixture.answer("StartDiscovery") != nil)
        fixture.command(.stopScan)
        #expect(fixture.waiting == ["SetDiscoveryFilter"])
        fixture.answerDiscovery()
        fixture.command(.stopScan, from: 2)
        #expect(fixture.waiting == ["StopDiscovery"])
    }

    /// See https://github.com/bluez/bluez/issues/2282.
    @Test(arguments: [("usb:v1D6Bp0246d0557", false), ("usb:v1D6Bp0246d0556", true), ("usb:v0A12p0001d0557", true)])
    mutating func aDaemonThatCrashesOnAFilterOfServicesGetsNone(modalias: String, isSet: Bool) {
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Modalias": .string(modalias)])
        fixture.command(.startScan(ScanParameters(services: [BluetoothUUID(0x180D)])))
        let filter = fixture.answer("SetDiscoveryFilter")?.body.first?.propertiesValue
        #expect(filter?["Transport"] == .string("le"))
        #expect((filter?["UUIDs"] != nil) == isSet)
        fixture.answerDiscovery()
        for service in ["180f", "180d"] {
            let device = Fixture.deviceObject(
                address: "F0:F1:F2:F3:F4:\(service.suffix(2))".uppercased(),
                [
                    "Name": .string(service), "RSSI": .int16(-50),
                    "UUIDs": .strings(["0000\(service)-0000-1000-8000-00805f9b34fb"]),
                ])
            fixture.receive(.interfacesAdded(Fixture.path("/org/bluez/hci0/dev_\(service)"), device))
        }
        #expect(names == ["180d"], "the manager's filter selects")
    }

    /// See https://github.com/deviceplug/btleplug/issues/206.
    @Test mutating func aDeviceOfTheSnapshotIsNotReportedBeforeItIsHeard() {
        _ = fixture.addDevice(["Name": .string("Old"), "RSSI": .int16(-50)])
        scan()
        fixture.receive(
            .snapshot([
                Fixture.adapter: Fixture.adapterObject(),
                Fixture.device: Fixture.deviceObject(["Name": .string("Old"), "RSSI": .int16(-50)]),
            ]))
        #expect(names == [])
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-51)])
        #expect(names == ["Old"])
    }

    /// See https://github.com/hbldh/bleak/issues/903.
    @Test mutating func aDeviceThatAdvertisesOnceIsReported() {
        scan()
        _ = fixture.addDevice(["Name": .string("Once"), "RSSI": .int16(-50)])
        guard case .discovered(let report)? = fixture.events.first else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(report.rssi == -50 && report.name == "Once" && report.address == "F0:F1:F2:F3:F4:F5")
        #expect(fixture.events.count == 1)
    }

    @Test mutating func aDeviceWithoutSignalStrengthWasNotHeard() {
        scan()
        _ = fixture.addDevice(["Name": .string("Cached")])
        fixture.set(Fixture.device, "org.bluez.Device1", ["UUIDs": .strings(["180d"])])
        #expect(fixture.events == [])
    }

    /// See https://github.com/mcginty/blew/issues/27.
    @Test mutating func S20_aReportThatAddsSomethingIsDeliveredAndAnEqualOneIsNot() {
        scan()
        _ = fixture.addDevice()
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-51)])
        #expect(names == [nil])
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-52), "Name": .string("Late")])
        #expect(names == [nil, "Late"])
    }

    @Test mutating func S21_duplicatesAreDeliveredWhereTheyAreWanted() {
        scan(ScanParameters(allowDuplicates: true))
        _ = fixture.addDevice()
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-51)])
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-51)])
        #expect(names == [nil, nil, nil])
    }

    @Test mutating func othersFiltersLetNothingElseThrough() {
        scan(ScanParameters(services: [BluetoothUUID(0x180D)]))
        _ = fixture.addDevice(["RSSI": .int16(-50), "UUIDs": .strings(["0000180f-0000-1000-8000-00805f9b34fb"])])
        #expect(fixture.events == [])
    }

    @Test mutating func S23_nothingIsReportedAfterTheEnd() {
        scan()
        _ = fixture.addDevice()
        fixture.clear()
        fixture.command(.stopScan)
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-51), "Name": .string("New")])
        fixture.set(Fixture.device, "org.bluez.Device1", [:], removing: ["RSSI", "TxPower"])
        fixture.answerDiscovery()
        #expect(fixture.events == [])
    }

    @Test mutating func aNewScanReportsAgain() {
        scan()
        _ = fixture.addDevice()
        scan()
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-51)])
        #expect(names == [nil, nil])
    }

    /// See https://github.com/deviceplug/btleplug/issues/332.
    @Test mutating func discoveryThatEndsByItselfIsStartedAgain() {
        scan()
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Discovering": .boolean(true)])
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Discovering": .boolean(false)])
        #expect(fixture.waiting == [])
        fixture.fire(.discoveryRetry)
        #expect(fixture.waiting == ["StartDiscovery"])
    }

    /// bluetoothd refuses for some seconds after it was killed while it was scanning.
    @Test mutating func aStartThatIsRefusedIsTriedAgain() {
        fixture.command(.startScan(ScanParameters()))
        _ = fixture.answer("SetDiscoveryFilter")
        for _ in 0..<3 {
            #expect(fixture.refuse("StartDiscovery", "InProgress", "Operation already in progress") != nil)
            #expect(fixture.waiting == [])
            fixture.fire(.discoveryRetry)
        }
        #expect(fixture.answer("StartDiscovery") != nil)
        #expect(fixture.waiting == [])
    }

    /// See https://github.com/hbldh/bleak/issues/1689.
    @Test mutating func aScanThatIsRefusedForLongIsWarnedOfOnceAndStillTried() {
        fixture.command(.startScan(ScanParameters()))
        _ = fixture.answer("SetDiscoveryFilter")
        for _ in 1..<DiscoverySession.warningAfter {
            fixture.refuse("StartDiscovery", "InProgress", "Operation already in progress")
            fixture.fire(.discoveryRetry)
        }
        #expect(fixture.warnings == [])
        for _ in 0..<3 {
            fixture.refuse("StartDiscovery", "InProgress", "Operation already in progress")
            fixture.fire(.discoveryRetry)
        }
        #expect(fixture.warnings.count == 1 && fixture.warnings.first?.contains("off and on") == true)
        #expect(fixture.waiting == ["StartDiscovery"])
    }

    @Test(arguments: [("InProgress", true, 1), ("InProgress", false, 0), ("Failed", true, 0)])
    mutating func aScanThatTheKernelDoesNotEndIsWarnedOf(error: String, isDiscovering: Bool, warnings: Int) {
        scan()
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Discovering": .boolean(isDiscovering)])
        fixture.command(.stopScan)
        fixture.refuse("StopDiscovery", error, "Operation already in progress")
        fixture.answerDiscovery()
        #expect(fixture.warnings.count == warnings)
        #expect(fixture.warnings.allSatisfy { $0.contains("off and on") })
    }

    @Test mutating func powerLossEndsTheScanAndPowerDoesNotBringItBack() {
        scan()
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(false)])
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(true)])
        #expect(fixture.waiting == [])
        scan()
        _ = fixture.addDevice()
        #expect(names.last == .some(nil))
    }

    @Test mutating func anInvalidatedManagersScanEnds() {
        scan()
        fixture.input(.invalidated(1))
        #expect(fixture.waiting == ["StopDiscovery"])
        _ = fixture.addDevice()
        #expect(fixture.events == [])
    }

    /// `Device1.Name` is the advertised name after each report and the GAP Device Name after each connection.
    @Test mutating func theAdvertisedNameAndTheDeviceNameAreKeptApart() {
        scan()
        let peer = fixture.addDevice(["Name": .string("Contract"), "RSSI": .int16(-50)])
        fixture.command(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(true)])
        fixture.answer("Connect")
        fixture.set(Fixture.device, "org.bluez.Device1", ["Name": .string("Contract Peer")])
        #expect(fixture.events.last == .nameChanged(peer: peer, name: "Contract Peer", source: .gap))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.fire(.link(peer, .powerLoss))
        fixture.clear()
        scan()
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-40), "Name": .string("Contract")])
        guard case .discovered(let report)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(report.name == "Contract Peer" && report.advertisement.localName == "Contract")
        #expect(fixture.events.count == 1)
    }

    @Test mutating func aDeviceThatIsConnectedWhenItIsMetIsLaterFoundByItsName() {
        _ = fixture.addDevice(["Name": .string("Contract"), "Connected": .boolean(true)])
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        scan()
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-40)])
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-41), "Name": .string("Renamed")])
        #expect(names == ["Contract", "Renamed"])
    }
}
#endif
