import Benchmark

/// The metrics besides the clock.
enum Metric {
    static let app = BenchmarkMetric.custom("App CPU ns / operation")
    static let system = BenchmarkMetric.custom("App, bus and daemon CPU ns / operation")
    static let c = BenchmarkMetric.custom("C CPU ns / operation")
    static let bleak = BenchmarkMetric.custom("bleak CPU ns / operation")
    static let ratio = BenchmarkMetric.custom("App / bleak, percent")
    static let cRatio = BenchmarkMetric.custom("App / C, percent")
    static let core = BenchmarkMetric.custom("Of a core, per mille")
    static let resident = BenchmarkMetric.custom("Resident KiB more")
}
