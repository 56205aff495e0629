import Benchmark
import CBusClient
import Glibc

/// The D-Bus client in comparison with a client in C that does the same work on the same bus in the same run.
///
/// The benchmarks compare processor time: bus and service are separate processes, and the clock mostly measures them.
let benchmarks: @Sendable () -> Void = {
    // Created on the main thread: its children end with the thread that creates them.
    let bus = PrivateBus.shared
    let swiftTime = BenchmarkMetric.custom("Swift CPU ns / message")
    let cTime = BenchmarkMetric.custom("C CPU ns / message")
    let ratio = BenchmarkMetric.custom("Swift / C, percent")
    let perSecond = BenchmarkMetric.custom("Swift messages / s", polarity: .prefersLarger)
    var configuration = Benchmark.defaultConfiguration
    configuration.metrics = [.wallClock, swiftTime, cTime, ratio, perSecond]
    configuration.warmupIterations = 1
    configuration.maxDuration = .seconds(5)

    func compare(
        _ name: String, _ count: Int, inSwift: @escaping @Sendable (SwiftClient, Int) -> Int,
        inC: @escaping @Sendable (OpaquePointer, Int) -> Int
    ) {
        Benchmark(name, configuration: configuration) { benchmark in
            let bus = try bus.get()
            let (swiftClient, cClient) = (try SwiftClient(bus.address), try bus.openClient())
            defer { bus_client_close(cClient) }
            let cUsed = processorTime { precondition(inC(cClient, count) == count * 20) }
            let start = ContinuousClock.now
            benchmark.startMeasurement()
            let swiftUsed = processorTime { precondition(inSwift(swiftClient, count) == count * 20) }
            benchmark.stopMeasurement()
            let elapsed = (ContinuousClock.now - start) / .seconds(1)
            benchmark.measurement(swiftTime, swiftUsed / count)
            benchmark.measurement(cTime, cUsed / count)
            benchmark.measurement(ratio, swiftUsed * 100 / max(1, cUsed))
            benchmark.measurement(perSecond, Int(Double(count) / elapsed))
        }
    }

    compare("Calls, one at a time", 5_000) {
        $0.call(count: $1, inFlight: 1)
    } inC: {
        bus_client_call($0, Int32($1), 1)
    }
    compare("Calls, 32 in flight", 10_000) {
        $0.call(count: $1, inFlight: 32)
    } inC: {
        bus_client_call($0, Int32($1), 32)
    }
    compare("PropertiesChanged, flood", 10_000) {
        $0.listen(count: $1, perSecond: 0)
    } inC: {
        bus_client_listen($0, Int32($1), 0)
    }
    compare("PropertiesChanged, 5,000 a second", 5_000) {
        $0.listen(count: $1, perSecond: 5_000)
    } inC: {
        bus_client_listen($0, Int32($1), 5_000)
    }
}

/// Returns the nanoseconds of processor time, of all threads of this process, that `body` takes.
private func processorTime(_ body: () -> Void) -> Int {
    func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    let start = now()
    body()
    return now() - start
}
