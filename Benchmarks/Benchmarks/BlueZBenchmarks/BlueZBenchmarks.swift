import Benchmark
import BlueZ
import CBusClient
import Foundation
import Glibc

/// The path from BlueZ to an app's delegate, in comparison with a client in C, and with bleak if `BLEAK_PYTHON` names a
/// Python that has it: the same work, on the same bus, in the same run.
///
/// The benchmarks compare processor time: bus and daemon are separate processes.
let benchmarks: @Sendable () -> Void = {
    // Created on the main thread: their children end with the thread that creates them.
    let bus = Result { try ScriptedBus(devices: 1_000) }
    // Separate, as the app would receive the events that the others cause.
    let others = Result { try ScriptedBus(devices: 1_000) }
    let acquiring = Result { try ScriptedBus(devices: 1_000, notificationMethod: .acquireNotify) }
    let crowded = Result { try ScriptedBus(devices: 10_000) }
    var configuration = Benchmark.defaultConfiguration
    configuration.metrics = [.wallClock, Metric.app, Metric.system, Metric.c, Metric.bleak, Metric.ratio]
    configuration.warmupIterations = 1
    configuration.maxDuration = .seconds(8)

    func compare(
        _ name: String, _ work: String, _ count: Int, on bus: Result<ScriptedBus, any Error>,
        app: @escaping @Sendable (ScriptedBus, Int) -> Void,
        c: (@Sendable (OpaquePointer, Int) -> Int)?
    ) {
        Benchmark(name, configuration: configuration) { benchmark in
            let (bus, peers) = (try bus.get(), try others.get())
            let cUsed = c.map { c in processorTime { precondition(c(peers.control, count) == count * 20) } }
            benchmark.startMeasurement()
            let others = bus.processorTime
            let used = processorTime { app(bus, count) }
            let system = used + bus.processorTime - others
            benchmark.stopMeasurement()
            benchmark.measurement(Metric.app, used / count)
            benchmark.measurement(Metric.system, system / count)
            if let cUsed { benchmark.measurement(Metric.c, cUsed / count) }
            if let bleak = try Bleak.nanoseconds(work, count, on: peers.address) {
                benchmark.measurement(Metric.bleak, bleak)
                benchmark.measurement(Metric.ratio, used * 100 / count / max(1, bleak))
            }
        }
    }

    compare("Reads, one at a time", "read", 3_000, on: bus) {
        $0.client.read($1)
    } c: {
        bus_client_call($0, Int32($1), 1)
    }
    compare("Notifications, flood", "notify", 10_000, on: bus) { bus, count in
        bus.client.listen(count) { bus_client_notify(bus.control, Int32(count), 0) }
    } c: {
        bus_client_listen($0, Int32($1), 0)
    }
    compare("Notifications, 1,000 a second", "notify1000", 2_000, on: bus) { bus, count in
        bus.client.listen(count) { bus_client_notify(bus.control, Int32(count), 1_000) }
    } c: {
        bus_client_listen($0, Int32($1), 1_000)
    }
    for (rate, name, count) in [(0, "flood", 10_000), (1_000, "1,000 a second", 2_000)] {
        compare(
            "Notifications over AcquireNotify, \(name)", "acquire\(rate)", count, on: acquiring,
            app: { bus, count in
                bus.client.listen(count) { bus_client_notify(bus.control, Int32(count), Int32(rate)) }
            }, c: nil)
    }
    compare(
        "Advertisements of 1,000 devices, flood", "advertise", 10_000, on: bus,
        app: { bus, count in
            bus.client.scan(count) { bus_client_advertise(bus.control, Int32(count), 0) }
        }, c: nil)

    writes(to: bus, others)
    paced(bus)
    memory(crowded)
}

/// Measures the used share of a core, which is equivalent to processor time at a given rate.
private func paced(_ bus: Result<ScriptedBus, any Error>) {
    var configuration = Benchmark.defaultConfiguration
    configuration.metrics = [.wallClock, Metric.core]
    configuration.maxDuration = .seconds(8)
    Benchmark("5,000 advertisements a second of 1,000 devices", configuration: configuration) { benchmark in
        let bus = try bus.get()
        let start = ContinuousClock.now
        benchmark.startMeasurement()
        let used = processorTime {
            bus.client.scan(15_000) { bus_client_advertise(bus.control, 15_000, 5_000) }
        }
        benchmark.stopMeasurement()
        benchmark.measurement(Metric.core, Int(Double(used) / ((ContinuousClock.now - start) / .nanoseconds(1)) * 1000))
    }
}

/// Measures packets on a socket of the daemon, from `writeValue` on.
private func writes(to bus: Result<ScriptedBus, any Error>, _ others: Result<ScriptedBus, any Error>) {
    var configuration = Benchmark.defaultConfiguration
    configuration.metrics = [.wallClock, Metric.app, Metric.c, Metric.cRatio]
    configuration.warmupIterations = 1
    configuration.maxDuration = .seconds(5)
    Benchmark("Writes without response over AcquireWrite", configuration: configuration) { benchmark in
        let (bus, count) = (try bus.get(), 50_000)
        let control = try others.get().control
        // The first packets go over the bus.
        bus.client.write(100)
        let cUsed = processorTime { precondition(bus_client_write(control, Int32(count)) == 1) }
        benchmark.startMeasurement()
        let used = processorTime { bus.client.write(count) }
        benchmark.stopMeasurement()
        benchmark.measurement(Metric.app, used / count)
        benchmark.measurement(Metric.c, cUsed / count)
        benchmark.measurement(Metric.cRatio, used * 100 / max(1, cUsed))
    }
}

private func memory(_ bus: Result<ScriptedBus, any Error>) {
    var configuration = Benchmark.defaultConfiguration
    configuration.metrics = [.wallClock, Metric.resident]
    configuration.warmupIterations = 0
    configuration.maxIterations = 1
    Benchmark("Memory with 10,000 devices", configuration: configuration) { benchmark in
        let before = residentMemory()
        benchmark.startMeasurement()
        let client = try bus.get().client
        benchmark.stopMeasurement()
        benchmark.measurement(Metric.resident, residentMemory() - before)
        withExtendedLifetime(client) {}
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

/// Returns the resident memory of this process in KiB.
private func residentMemory() -> Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst()
    return (pages?.first.flatMap { Int($0) } ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / 1024
}
