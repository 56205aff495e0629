import Benchmark
import BluetoothEmulator
import CoreBluetooth
import Foundation

private typealias Backend = @Sendable () throws -> CBBackendSelection

/// The job that people run: fifty sensors with a value a second each.
///
/// On BlueZ it needs a daemon with the devices of `fifty-devices.json`, in a separate process: `make bench` runs this target
/// under `bluectl world run`. The same job by bleak, if `BLEAK_PYTHON` names a Python that has it, takes turns with the
/// others.
let benchmarks: @Sendable () -> Void = {
    var configuration = Benchmark.defaultConfiguration
    configuration.metrics = [Metric.subscribed, Metric.processorTime, Metric.switches]
    configuration.warmupIterations = 0
    configuration.maxIterations = 4
    configuration.maxDuration = .seconds(400)

    func measure(_ name: String, _ job: @escaping @Sendable () throws -> JobResult?) {
        Benchmark(name, configuration: configuration) { benchmark in
            guard let result = try job() else { return }
            benchmark.measurement(Metric.subscribed, result.subscribed)
            benchmark.measurement(Metric.processorTime, result.processorTime / max(1, result.values))
            benchmark.measurement(Metric.switches, result.voluntarySwitches * 100 / max(1, result.values))
        }
    }

    let (devices, seconds) = (50, UInt32(10))
    let bluez: Backend = { .bluez() }
    let emulated: Backend = {
        .emulator(try Emulator(worldFile: #filePath.replacing("JobBenchmarks.swift", with: "fifty-devices.json")))
    }
    for (place, backend) in [("BlueZ", bluez), ("emulator", emulated)] {
        measure("Delegates, \(place)") { DelegateJob.run(devices: devices, seconds: seconds, on: try backend()) }
        measure("Tasks on the central's executor, \(place)") {
            AsyncJob.run(devices: devices, seconds: seconds, on: try backend(), .central)
        }
        measure("Tasks on the global executor, \(place)") {
            AsyncJob.run(devices: devices, seconds: seconds, on: try backend(), .global)
        }
    }
    measure("bleak") { try BleakJob.run(devices: devices, seconds: seconds) }
}

/// The metrics of a job.
enum Metric {
    static let subscribed = BenchmarkMetric.custom("Until all are subscribed, ms")
    static let processorTime = BenchmarkMetric.custom("CPU us / value")
    static let switches = BenchmarkMetric.custom("Voluntary switches / 100 values")
}
