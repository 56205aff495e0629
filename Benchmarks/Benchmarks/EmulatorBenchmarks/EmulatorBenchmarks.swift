import Benchmark
import BluetoothCapture
import BluetoothEmulator
import CoreBluetooth

/// The emulator through the whole API: managers, delegates, queues.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal, .throughput], warmupIterations: 1, maxDuration: .seconds(3))

    /// The argument `isCaptured` captures the packets in a file that keeps nothing, and the rate is theirs.
    func link(
        _ name: String, _ count: Int, isCaptured: Bool = false,
        _ work: @escaping @Sendable (LinkClient, Int) -> Void
    ) {
        var configuration = Benchmark.defaultConfiguration
        configuration.metrics = [.wallClock, .cpuTotal, Rate.perSecond, Rate.processorTime]
        Benchmark("\(name)", configuration: configuration) { benchmark in
            let emulator = Emulator(configuration: .quiet)
            let capture = isCaptured ? try emulator.capture(to: "/dev/null") : nil
            let client = try LinkClient(emulator)
            let rate = Rate()
            benchmark.startMeasurement()
            rate.start()
            work(client, count)
            capture?.stop()
            rate.stop(benchmark, operations: capture?.packetCount ?? count)
            benchmark.stopMeasurement()
        }
    }

    link("Reads, one at a time", 200_000) { $0.read(count: $1, outstanding: 1) }
    link("Reads, 32 outstanding", 200_000) { $0.read(count: $1, outstanding: 32) }
    link("Writes without response", 200_000) { $0.write(count: $1) }
    link("Notifications, 16 on their way", 200_000) { $0.notify(count: $1, outstanding: 16) }
    link("Reads, one at a time, captured", 200_000, isCaptured: true) { $0.read(count: $1, outstanding: 1) }
    link("Notifications, 16 on their way, captured", 200_000, isCaptured: true) {
        $0.notify(count: $1, outstanding: 16)
    }

    /// Scans for a duration, or as long as a number of devices needs to send a number of packets.
    func scan(
        _ name: String, _ advertisers: Int, duplicates: Bool, isCaptured: Bool = false, _ duration: Duration
    ) {
        var configuration = Benchmark.defaultConfiguration
        configuration.metrics = [.wallClock, .cpuTotal, Rate.perSecond, Rate.processorTime]
        Benchmark(name, configuration: configuration) { benchmark in
            let scan = try ScanClient(advertisers: advertisers, duplicates: duplicates)
            let capture = isCaptured ? try scan.capture() : nil
            let rate = Rate()
            benchmark.startMeasurement()
            rate.start()
            try await scan.run(for: duration)
            capture?.stop()
            rate.stop(benchmark, operations: capture?.packetCount ?? scan.advertisingEvents)
            benchmark.stopMeasurement()
        }
    }

    // Some 57,000 packets that are each reported, and a number of coalesced ones that is large enough to measure their
    // cost.
    scan("10 advertisers, each packet reported", 10, duplicates: true, .seconds(600))
    scan("1,000 advertisers, each packet reported", 1_000, duplicates: true, .seconds(6))
    scan("10,000 advertisers, each packet reported", 10_000, duplicates: true, .milliseconds(600))
    scan("1,000 advertisers, each packet captured", 1_000, duplicates: true, isCaptured: true, .seconds(6))
    scan("10 advertisers, duplicates filtered", 10, duplicates: false, .seconds(6_000))
    scan("1,000 advertisers, duplicates filtered", 1_000, duplicates: false, .seconds(60))
    scan("10,000 advertisers, duplicates filtered", 10_000, duplicates: false, .seconds(60))

    // The figures of the page "Airtime and collisions", which `make plots` inserts there: they are the same in each
    // run.
    for row in CollisionRow.all {
        var configuration = Benchmark.defaultConfiguration
        configuration.metrics = [
            .wallClock, Rate.perSecond, CollisionRow.beacons, CollisionRow.interval, CollisionRow.airtime,
            CollisionRow.lost,
        ]
        configuration.warmupIterations = 0
        configuration.maxIterations = 1
        Benchmark(row.name, configuration: configuration) { try await row.run($0) }
    }

    var whole = Benchmark.defaultConfiguration
    whole.metrics = [.wallClock, .cpuTotal, Rate.perSecond, Rate.processorTime]
    Benchmark("Scan, connect, discover 5 services, read 10 values, subscribe, disconnect", configuration: whole) {
        benchmark in
        let client = try SessionClient.make()
        try await client.prepare()
        let rate = Rate()
        benchmark.startMeasurement()
        rate.start()
        try await client.run(rounds: 1_000)
        rate.stop(benchmark, operations: client.done)
        benchmark.stopMeasurement()
    }

    Benchmark("24 hours of a notification each second", configuration: whole) { benchmark in
        let client = try await DayClient.make()
        let before = client.values
        let rate = Rate()
        benchmark.startMeasurement()
        rate.start()
        try await client.emulator.advance(by: .seconds(24 * 3_600))
        rate.stop(benchmark, operations: client.values - before)
        benchmark.stopMeasurement()
    }
}
