import AsyncBluetooth
import Benchmark

/// The same work on the emulator through delegates and through AsyncBluetooth, in one run.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal, Rate.perSecond, Rate.processorTime], warmupIterations: 1,
        maxDuration: .seconds(3))

    func measure(
        _ name: String, _ count: Int, _ work: @escaping @Sendable (AsyncClient, Int) async throws -> Void
    ) {
        Benchmark(name) { benchmark in
            let client = try await AsyncClient()
            let rate = Rate()
            benchmark.startMeasurement()
            rate.start()
            try await work(client, count)
            rate.stop(benchmark, operations: count)
            benchmark.stopMeasurement()
        }
    }

    func compare(_ name: String, _ count: Int, _ work: @escaping @Sendable (LinkClient, Int) -> Void) {
        Benchmark(name) { benchmark in
            let client = try LinkClient()
            let rate = Rate()
            benchmark.startMeasurement()
            rate.start()
            work(client, count)
            rate.stop(benchmark, operations: count)
            benchmark.stopMeasurement()
        }
    }

    compare("Reads through delegates", 100_000) { $0.read(count: $1, outstanding: 1) }
    compare("Notifications through delegates", 200_000) { $0.notify(count: $1, outstanding: 64) }

    measure("Awaited reads, on the central's executor", 100_000) { client, count in
        try await withTaskExecutorPreference(client.central.executor) { try await client.read(count) }
    }
    measure("Awaited reads, on the global executor", 100_000) { try await $0.read($1) }
    measure("Notifications as a sequence, on the central's executor", 200_000) { client, count in
        try await withTaskExecutorPreference(client.central.executor) { try await client.notify(count, inFlight: 64) }
    }
    measure("Notifications as a sequence, on the global executor", 200_000) { try await $0.notify($1, inFlight: 64) }
}
