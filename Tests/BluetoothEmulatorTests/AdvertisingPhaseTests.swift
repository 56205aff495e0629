import BluetoothBackend
import BluetoothEmulator
import Testing

/// Packets of a set whose first packet has a fixed time.
@Suite struct AdvertisingPhaseTests {
    private let fixture = Fixture()

    private func device(_ name: String, _ address: DeviceAddress) throws -> EmulatedDevice {
        let device = try fixture.emulator.add(PeripheralDescription(name: name, address: address))
        let set = AdvertisingDescription(AdvertisingData(localName: name))
        try device.setAdvertising(set, firstPacketAfter: .milliseconds(100))
        return device
    }

    private func names(from count: Int) -> [String?] {
        fixture.events(from: count).compactMap { event in
            if case .discovered(let discovery) = event { discovery.advertisement.localName } else { nil }
        }
    }

    @Test(arguments: [0, 30, 250, 999])
    func devicesOfOneIntervalAreHeardInTheirOrder(_ pause: Int) async throws {
        try await fixture.powerOn()
        let order: [DeviceAddress] = ["C0:00:00:00:00:0B", "C0:00:00:00:00:0A", "C0:00:00:00:00:0C"]
        for (name, address) in zip(["a", "b", "c"], order) { _ = try device(name, address) }
        try await fixture.emulator.advance(by: .milliseconds(pause))
        let count = fixture.events.count
        fixture.submit(.startScan(ScanParameters()))
        try await fixture.emulator.advance(by: .milliseconds(101))
        #expect(names(from: count) == ["a", "b", "c"])
    }

    @Test func theTimeCountsFromEachSwitchingOn() async throws {
        try await fixture.powerOn()
        let device = try device("a", "C0:00:00:00:00:0A")
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        for _ in 0..<2 {
            device.setAdvertising(false)
            try await fixture.emulator.advance(by: .milliseconds(500))
            let count = fixture.events.count
            device.setAdvertising(true)
            try await fixture.emulator.advance(by: .milliseconds(99))
            #expect(names(from: count).isEmpty)
            try await fixture.emulator.advance(by: .milliseconds(1))
            #expect(names(from: count) == ["a"])
        }
    }
}
