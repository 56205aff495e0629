import Benchmark
import BluetoothEmulator
import CoreBluetooth

/// Work on the emulated radio through the whole facade: managers, delegates, queues.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal, .throughput], warmupIterations: 1, maxDuration: .seconds(3))

    func link(_ name: String, _ count: Int, _ work: @escaping @Sendable (LinkClient, Int) -> Void) {
        var configuration = Benchmark.defaultConfiguration
        configuration.metrics = [.wallClock, .cpuTotal, Rate.perSecond, Rate.processorTime]
        Benchmark("\(name)", configuration: configuration) { benchmark in
            let client = try LinkClient()
            let rate = Rate()
            benchmark.startMeasurement()
            rate.start()
            work(client, count)
            rate.stop(benchmark, operations: count)
            benchmark.stopMeasurement()
        }
    }

    link("Reads, one at a time", 200_000) { $0.read(count: $1, outstanding: 1) }
    link("Reads, 32 outstanding", 200_000) { $0.read(count: $1, outstanding: 32) }
    link("Writes without response", 200_000) { $0.write(count: $1) }
    link("Notifications, 16 on their way", 200_000) { $0.notify(count: $1, outstanding: 16) }

    for duplicates in [false, true] {
        var configuration = Benchmark.defaultConfiguration
        configuration.metrics = [.wallClock, .cpuTotal, Rate.perSecond, Rate.processorTime]
        let name = "1,000 advertisers in virtual time, \(duplicates ? "each packet told" : "duplicates filtered")"
        Benchmark(name, configuration: configuration) { benchmark in
            let scan = try ScanClient(advertisers: 1_000, duplicates: duplicates)
            let rate = Rate()
            benchmark.startMeasurement()
            rate.start()
            try await scan.run(for: .seconds(duplicates ? 5 : 60))
            rate.stop(benchmark, operations: scan.advertisingEvents)
            benchmark.stopMeasurement()
        }
    }
}
