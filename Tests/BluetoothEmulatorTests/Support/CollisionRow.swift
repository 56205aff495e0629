import BluetoothBackend
import BluetoothEmulator
import Foundation

/// A number of beacons on the air, the share that a scanner misses, and the prediction of pure ALOHA.
struct CollisionRow: Sendable {
    /// The length of the data in each packet, in bytes.
    static let dataLength = 31
    /// The pause between two advertising events of a beacon, without its random delay of 0–10 ms.
    let interval: Duration
    let advertisers: Int
    /// The duration of the scan.
    let duration: Duration

    /// Rows with loads from 0.04 to 3.6 of a channel's time.
    static let all: [CollisionRow] = [
        CollisionRow(interval: .milliseconds(1_000), advertisers: 100, duration: .seconds(100)),
        CollisionRow(interval: .milliseconds(1_000), advertisers: 300, duration: .seconds(40)),
        CollisionRow(interval: .milliseconds(1_000), advertisers: 1_000, duration: .seconds(20)),
        CollisionRow(interval: .milliseconds(100), advertisers: 50, duration: .seconds(20)),
        CollisionRow(interval: .milliseconds(100), advertisers: 200, duration: .seconds(10)),
        CollisionRow(interval: .milliseconds(100), advertisers: 1_000, duration: .seconds(5)),
    ]

    /// The time of a packet: 16 bytes and the data at 8 us each.
    private static let airtime = Duration.microseconds(8 * (16 + dataLength))

    /// The share of a channel's time that packets would take without overlaps: G.
    var offeredLoad: Double { Double(advertisers) * (Self.airtime / (interval + .milliseconds(5))) }

    /// The predicted loss: a packet survives if no other packet begins within its time before or after its own start.
    ///
    /// The other packets are those of all other advertisers.
    var predictedLoss: Double {
        1 - exp(-2 * offeredLoad * Double(advertisers - 1) / Double(advertisers))
    }

    /// Returns the share of the packets that a scanner misses while it listens all the time.
    func measuredLoss(seed: UInt64 = 1) async throws -> Double {
        var configuration = EmulatorConfiguration.instant
        configuration.advertisingCollides = true
        let fixture = Fixture(configuration, seed: seed)
        let data = AdvertisingData(manufacturerData: Data(repeating: 0xA5, count: Self.dataLength - 2))
        for number in 0..<advertisers {
            try fixture.emulator.add(
                PeripheralDescription(
                    name: "Beacon \(number)", address: DeviceAddress(bits: 0xC000_0000_0000 + UInt64(number)),
                    advertising: [AdvertisingDescription(data, interval: interval, isConnectable: false)]))
        }
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        try await fixture.emulator.advance(by: duration)
        let heard = fixture.events.count { if case .discovered = $0 { true } else { false } }
        return 1 - Double(heard) / Double(fixture.emulator.advertisingPackets)
    }
}
