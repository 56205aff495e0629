import Benchmark
import BluetoothBackend
import BluetoothEmulator
import Foundation

/// A number of beacons whose packets collide, and a scanner that listens all the time.
struct CollisionRow: Sendable {
    static let beacons = BenchmarkMetric.custom("Beacons")
    static let interval = BenchmarkMetric.custom("Interval (ms)")
    static let airtime = BenchmarkMetric.custom("Airtime of a packet (us)")
    static let lost = BenchmarkMetric.custom("Lost packets / million")

    private let beaconCount: Int
    /// The pause between two advertising events of a beacon, without the random 0–10 ms, in milliseconds.
    private let milliseconds: Int
    /// The time for which the scanner listens.
    private let duration: Duration

    /// The rows from a load of 0.004 of a channel's time to one of 3.6; each scans 20,000 packets or more.
    static let all = [
        CollisionRow(10, every: 1_000, for: .seconds(10_000)), CollisionRow(100, every: 1_000, for: .seconds(1_000)),
        CollisionRow(300, every: 1_000, for: .seconds(200)), CollisionRow(1_000, every: 1_000, for: .seconds(60)),
        CollisionRow(10, every: 100, for: .seconds(1_000)), CollisionRow(50, every: 100, for: .seconds(100)),
        CollisionRow(100, every: 100, for: .seconds(50)), CollisionRow(200, every: 100, for: .seconds(20)),
        CollisionRow(400, every: 100, for: .seconds(10)), CollisionRow(1_000, every: 100, for: .seconds(10)),
    ]

    private init(_ beaconCount: Int, every milliseconds: Int, for duration: Duration) {
        (self.beaconCount, self.milliseconds, self.duration) = (beaconCount, milliseconds, duration)
    }

    var name: String { "\(beaconCount) beacons, each \(milliseconds) ms, that collide" }

    /// Scans, and measures the number of lost packets.
    func run(_ benchmark: Benchmark) async throws {
        let dataLength = 31
        var configuration = EmulatorConfiguration.instant
        configuration.advertisingCollides = true
        let data = AdvertisingData(manufacturerData: Data(repeating: 0xA5, count: dataLength - 2))
        let scan = try ScanClient(
            advertisers: beaconCount, duplicates: true, configuration,
            advertising: AdvertisingDescription(data, interval: .milliseconds(milliseconds), isConnectable: false))
        let rate = Rate()
        benchmark.startMeasurement()
        rate.start()
        try await scan.run(for: duration)
        let sent = scan.advertisingEvents
        rate.stop(benchmark, operations: sent)
        benchmark.stopMeasurement()
        benchmark.measurement(Self.beacons, beaconCount)
        benchmark.measurement(Self.interval, milliseconds)
        // Each packet has 16 bytes besides the data, and each byte takes 8 µs.
        benchmark.measurement(Self.airtime, 8 * (16 + dataLength))
        benchmark.measurement(Self.lost, (sent - scan.reportCount) * 1_000_000 / max(1, sent))
    }
}
