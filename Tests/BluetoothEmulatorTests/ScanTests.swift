import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct ScanTests {
    @Test func S1_theFirstStateComesAfterItsDelayAndNotBefore() async throws {
        let fixture = Fixture(.default)
        fixture.central.activate(fixture.sink)
        try await fixture.emulator.advance(by: .milliseconds(99))
        #expect(fixture.events.isEmpty)
        try await fixture.emulator.advance(by: .milliseconds(1))
        #expect(fixture.events == [.stateChanged(.poweredOn)])
    }

    @Test func S21_advertisementAndScanResponseAreReportedOneAfterTheOtherAndThenNoMore() async throws {
        let fixture = Fixture()
        try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .seconds(5))
        let reports = fixture.events.compactMap { event -> Discovery? in
            if case .discovered(let discovery) = event { discovery } else { nil }
        }
        try #require(reports.count == 2)
        #expect(reports[0].advertisement.localName == nil)
        #expect(reports[0].advertisement.serviceUUIDs == [ContractPeer.uuid("0001"), "180F"])
        #expect(reports[0].advertisement.isConnectable == true)
        #expect(reports[1].advertisement.localName == "Contract")
        #expect(reports[1].advertisement.serviceUUIDs == [ContractPeer.uuid("0001"), "180F"])
        #expect(reports[1].advertisement.manufacturerData == Data([0xFF, 0xFF, 1, 2, 3]))
        #expect((-72 ... -68).contains(reports[0].rssi))
    }

    @Test func S22_withDuplicatesEachPacketIsReported() async throws {
        let fixture = Fixture()
        try fixture.emulator.add(
            PeripheralDescription(
                name: "A", advertising: [.init(AdvertisingData(localName: "A"), interval: .milliseconds(100))]))
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await fixture.emulator.advance(by: .seconds(10))
        let count = fixture.events.count - 1
        // The interval is 100 ms plus 0–10 ms.
        #expect((90...101).contains(count), "\(count) reports")
    }

    @Test func S18_aFilterLooksAtAdvertisedServicesOnly() async throws {
        let fixture = Fixture()
        try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(services: [ContractPeer.uuid("0003")])))
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(fixture.events == [.stateChanged(.poweredOn)])
        fixture.submit(.startScan(ScanParameters(services: ["180F"])))
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(fixture.events.count == 3)
    }

    @Test func aDeviceThatNobodyListensToSchedulesNothing() async throws {
        let fixture = Fixture()
        for index in 0..<100 {
            try fixture.emulator.add(PeripheralDescription(name: "\(index)", advertising: [.init(AdvertisingData())]))
        }
        try await fixture.powerOn()
        try await fixture.emulator.advance(by: .seconds(3600))
        #expect(fixture.emulator.advertisingPackets == 0)
    }
}
