import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct ScanTests {
    /// Proves S1.
    @Test func S1_theFirstStateComesAfterItsDelayAndNotBefore() async throws {
        let stage = Stage(.default)
        stage.central.activate(stage.sink)
        try await stage.emulator.advance(by: .milliseconds(99))
        #expect(stage.events.isEmpty)
        try await stage.emulator.advance(by: .milliseconds(1))
        #expect(stage.events == [.stateChanged(.poweredOn)])
    }

    /// Proves S21.
    @Test func S21_advertisementAndScanResponseAreReportedOneAfterTheOtherAndThenNoMore() async throws {
        let stage = Stage()
        try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        stage.submit(.startScan(ScanParameters()))
        try await stage.emulator.advance(by: .seconds(5))
        let reports = stage.events.compactMap { event -> Discovery? in
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

    /// Proves S22.
    @Test func S22_withDuplicatesEachPacketIsReported() async throws {
        let stage = Stage()
        try stage.emulator.add(
            PeripheralDescription(
                name: "A", advertising: [.init(AdvertisingData(localName: "A"), interval: .milliseconds(100))]))
        try await stage.powerOn()
        stage.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await stage.emulator.advance(by: .seconds(10))
        let count = stage.events.count - 1
        // An interval of 100 ms and 0–10 ms more.
        #expect((90...101).contains(count), "\(count) reports")
    }

    /// Proves S18.
    @Test func S18_aFilterLooksAtAdvertisedServicesOnly() async throws {
        let stage = Stage()
        try stage.emulator.add(ContractPeer.description)
        try await stage.powerOn()
        stage.submit(.startScan(ScanParameters(services: [ContractPeer.uuid("0003")])))
        try await stage.emulator.advance(by: .seconds(5))
        #expect(stage.events == [.stateChanged(.poweredOn)])
        stage.submit(.startScan(ScanParameters(services: ["180F"])))
        try await stage.emulator.advance(by: .seconds(5))
        #expect(stage.events.count == 3)
    }

    @Test func aDeviceThatNobodyListensToSchedulesNothing() async throws {
        let stage = Stage()
        for index in 0..<100 {
            try stage.emulator.add(PeripheralDescription(name: "\(index)", advertising: [.init(AdvertisingData())]))
        }
        try await stage.powerOn()
        try await stage.emulator.advance(by: .seconds(3600))
        #expect(stage.emulator.advertisingPackets == 0)
    }
}
