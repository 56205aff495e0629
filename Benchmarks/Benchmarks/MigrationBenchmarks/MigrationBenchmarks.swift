import Benchmark
import BluetoothEmulator

/// The same work on the emulator through its API and through the migration modules, in one run.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal, Rate.perSecond, Rate.processorTime], warmupIterations: 1,
        maxDuration: .seconds(3))

    func measure<Client>(
        _ name: String, _ count: Int, _ makeClient: @escaping @Sendable () throws -> Client,
        _ work: @escaping @Sendable (Client, Int) -> Void
    ) {
        Benchmark(name) { benchmark in
            let client = try makeClient()
            let rate = Rate()
            benchmark.startMeasurement()
            rate.start()
            work(client, count)
            rate.stop(benchmark, operations: count)
            benchmark.stopMeasurement()
        }
    }

    // The device's handler answers from outside the world, as the delegate of a spec does.
    measure("Reads, emulator", 50_000, { try LinkClient(handler: StoredValues()) }) {
        $0.read(count: $1, outstanding: 1)
    }
    measure("Reads, CoreBluetoothMock", 50_000, { MockClient() }) { $0.read(count: $1) }
    measure("Notifications, emulator", 100_000, { try LinkClient(handler: StoredValues()) }) {
        $0.notify(count: $1, outstanding: 16)
    }
    measure("Notifications, CoreBluetoothMock", 100_000, { MockClient() }) { $0.notify(count: $1, outstanding: 16) }

    // The two managers are in one process.
    measure("Reads, two managers", 50_000, { ServedClient() }) { $0.read(count: $1) }
    measure("Reads, CoreBluetoothEmulator", 50_000, { EmulatedClient() }) { $0.read(count: $1) }
    measure("Notifications, two managers", 100_000, { ServedClient() }) { $0.notify(count: $1) }
    measure("Notifications, CoreBluetoothEmulator", 100_000, { EmulatedClient() }) { $0.notify(count: $1) }
}

/// A handler that answers each read with the value of the benchmarks.
struct StoredValues: AsynchronousPeripheralHandler {
    func respond(to request: PeripheralRequest) async -> PeripheralResponse { .value(LinkClient.value) }
}
