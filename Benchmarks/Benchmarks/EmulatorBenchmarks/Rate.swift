import Benchmark
import Glibc

/// A count of operations in relation to the clock and to the process's time.
final class Rate {
    /// The operations in a second of the clock.
    static let perSecond = BenchmarkMetric.custom("Operations / s", polarity: .prefersLarger)
    /// The nanoseconds of processor time, of all threads, for each operation.
    static let processorTime = BenchmarkMetric.custom("CPU ns / operation")

    private var started = ContinuousClock.now
    private var used = 0

    func start() {
        used = Self.processorNanoseconds
        started = .now
    }

    func stop(_ benchmark: Benchmark, operations: Int) {
        let elapsed = (ContinuousClock.now - started) / .seconds(1)
        benchmark.measurement(Self.perSecond, Int(Double(operations) / elapsed))
        benchmark.measurement(Self.processorTime, (Self.processorNanoseconds - used) / max(1, operations))
    }

    private static var processorNanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
