import Benchmark

/// The jobs that people run: fifty sensors with a value a second each, fifty idle links, a scan in a room of fifty
/// devices.
///
/// Each pass is a process of its own, the product `Job`. On BlueZ it needs a daemon with the devices of
/// `fifty-devices.json`: `make bench` runs this target under `bluectl world run`. The same job by bleak takes turns with it if
/// `BLEAK_PYTHON` names a Python that has bleak.
let benchmarks: @Sendable () -> Void = {
    var configuration = Benchmark.defaultConfiguration
    configuration.warmupIterations = 0
    configuration.maxIterations = 4
    configuration.maxDuration = .seconds(400)

    func measure(
        _ name: String, _ metrics: [JobMetric], _ job: @escaping @Sendable () throws -> JobResult?
    ) {
        configuration.metrics = metrics.map(\.metric)
        Benchmark(name, configuration: configuration) { benchmark in
            guard let result = try job() else { return }
            for metric in metrics { benchmark.measurement(metric.metric, metric.value(result)) }
        }
    }

    let world = JobProcess.file("fifty-devices.json")
    let subscriptions: [JobMetric] = [.ready, .timePerValue, .switchesPerValue, .memory]
    for (place, backend) in [("BlueZ", "bluez"), ("emulator", world)] {
        for (name, job) in [
            ("Delegates", "delegates"), ("Tasks on the central's executor", "central-tasks"),
            ("Tasks on the global executor", "global-tasks"),
        ] {
            measure("\(name), \(place)", subscriptions) { try JobProcess.run(job, on: backend) }
        }
    }
    measure("Subscriptions, bleak", subscriptions) { try JobProcess.runBleak("delegates") }
    for (name, job) in [("Idle links", "idle"), ("Scan", "scan")] {
        let metrics: [JobMetric] = [.timePerSecond, .switchesPerSecond]
        measure("\(name), BlueZ", metrics) { try JobProcess.run(job, on: "bluez") }
        measure("\(name), bleak", metrics) { try JobProcess.runBleak(job) }
    }
}

/// A figure of a job.
struct JobMetric: Sendable {
    let metric: BenchmarkMetric
    let value: @Sendable (JobResult) -> Int

    static let ready = JobMetric(metric: .custom("Until ready, ms")) { $0.ready }
    static let timePerValue = JobMetric(metric: .custom("CPU us / value")) { $0.processorTime / max(1, $0.values) }
    static let switchesPerValue = JobMetric(metric: .custom("Voluntary switches / 100 values")) {
        $0.voluntarySwitches * 100 / max(1, $0.values)
    }
    static let memory = JobMetric(metric: .custom("Resident memory, KiB")) { $0.memory }
    static let timePerSecond = JobMetric(metric: .custom("CPU us / s")) { $0.processorTime / JobProcess.seconds }
    static let switchesPerSecond = JobMetric(metric: .custom("Voluntary switches / 10 s")) { $0.voluntarySwitches }
}
