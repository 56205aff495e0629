import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// The content that a host adds to the advertisements of its peripheral managers.
@Suite struct HostAdvertisingTests {
    private func scanned(
        _ advertising: HostAdvertising, afterStart: Bool = false, for time: Duration = .seconds(10)
    ) async throws -> [Discovery] {
        let fixture = Fixture()
        let host = try fixture.emulator.add(HostDescription(name: "phone"))
        let server = PeripheralFixture(fixture.emulator, host: "phone")
        if !afterStart { try host.setAdvertising(advertising) }
        try await server.publish()
        if afterStart { try host.setAdvertising(advertising) }
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await fixture.emulator.advance(by: time)
        return fixture.events.compactMap { if case .discovered(let discovery) = $0 { discovery } else { nil } }
    }

    @Test(arguments: [false, true])
    func theDataOfAHostIsBesideThatOfTheManager(afterStart: Bool) async throws {
        let data = AdvertisingData(
            localName: "Other", txPowerLevel: -8, services: ["180F", "C0DE"], manufacturerData: Data([1, 2, 3]))
        let found = try #require(try await scanned(HostAdvertising(data: data), afterStart: afterStart).last)
        #expect(found.advertisement.localName == "Mine")
        #expect(found.advertisement.txPowerLevel == -8)
        #expect(found.advertisement.serviceUUIDs == ["C0DE", "180F"])
        #expect(found.advertisement.manufacturerData == Data([1, 2, 3]))
        #expect(found.advertisement.isConnectable == true)
    }

    @Test func theIntervalIsThatOfTheHost() async throws {
        let slow = try await scanned(HostAdvertising(interval: .seconds(1))).count
        let fast = try await scanned(HostAdvertising(interval: .milliseconds(20))).count
        #expect((9...11).contains(slow) && (380...500).contains(fast), "\(slow) \(fast)")
    }

    @Test func dataThatFitsNoLegacyPacketIsExtended() async throws {
        let data = AdvertisingData(manufacturerData: Data(repeating: 7, count: 40))
        let found = try await scanned(HostAdvertising(data: data), for: .seconds(1))
        #expect(found.first?.advertisement.manufacturerData?.count == 40)
        #expect(found.first?.advertisement.localName == "Mine")
        let fixture = Fixture()
        fixture.emulator.host.setSupport(.extendedScanAndConnect, false)
        let host = try fixture.emulator.add(HostDescription(name: "phone"))
        try host.setAdvertising(HostAdvertising(data: data))
        try await PeripheralFixture(fixture.emulator, host: "phone").publish()
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(!fixture.events.contains { $0.kind == .discovered })
    }

    @Test func whatNoPacketCarriesIsRefused() throws {
        let host = Emulator(time: .virtual).host
        #expect(throws: DescriptionError.self) {
            try host.setAdvertising(HostAdvertising(interval: .milliseconds(19)))
        }
        #expect(throws: DescriptionError.self) {
            try host.setAdvertising(HostAdvertising(data: .init(manufacturerData: Data(count: 250))))
        }
    }
}
