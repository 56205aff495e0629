import Foundation
import Glibc

/// The resources that this process has used so far.
struct Usage {
    /// Processor time of all threads, in microseconds.
    let processorTime: Int
    /// The number of times that a thread gave up its processor to wait.
    let voluntarySwitches: Int

    static var now: Usage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Usage(
            processorTime: microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
            voluntarySwitches: usage.ru_nvcsw)
    }

    private static func microseconds(_ time: timeval) -> Int { time.tv_sec * 1_000_000 + Int(time.tv_usec) }
}

/// The result of a job: what it received in a number of seconds, and what that took.
struct JobResult: Encodable {
    /// The milliseconds from the start of the job until it was ready: scanning, connected or subscribed.
    let ready: Int
    /// The number of values or scan reports received after that.
    let values: Int
    /// The processor time meanwhile, in microseconds.
    let processorTime: Int
    let voluntarySwitches: Int
    /// The resident memory at the end, in KiB.
    let memory: Int

    /// Measures what arrives after now.
    ///
    /// It writes a line to the standard error when it begins, for profilers.
    ///
    /// - Parameter received: Returns the number of values since the start.
    init(ready: Duration, seconds: UInt32, received: () -> Int) throws {
        self.ready = Int(ready / .milliseconds(1))
        FileHandle.standardError.write(Data("ready\n".utf8))
        let (values, usage) = (received(), Usage.now)
        sleep(seconds)
        let end = Usage.now
        self.values = received() - values
        processorTime = end.processorTime - usage.processorTime
        voluntarySwitches = end.voluntarySwitches - usage.voluntarySwitches
        memory = try Self.residentMemory()
    }

    private static func residentMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(separator: " ").lazy.compactMap { Int($0) }.first ?? 0
    }

    /// Prints the result as a line of JSON, and leaves a profiler the time to stop.
    func print() throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(self) + Data("\n".utf8))
        sleep(1)
    }
}
