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

/// The result of a job: the fifty devices are subscribed to, and their values received for a while.
struct JobResult: Decodable {
    /// The milliseconds from the start until all devices are subscribed to.
    let subscribed: Int
    /// The number of values received after that.
    let values: Int
    /// The processor time meanwhile, in microseconds.
    let processorTime: Int
    let voluntarySwitches: Int

    /// Measures the values that arrive after now.
    ///
    /// - Parameter received: Returns the number of values since the start.
    init(subscribed: Duration, seconds: UInt32, received: () -> Int) {
        self.subscribed = Int(subscribed / .milliseconds(1))
        let (values, usage) = (received(), Usage.now)
        sleep(seconds)
        let end = Usage.now
        self.values = received() - values
        processorTime = end.processorTime - usage.processorTime
        voluntarySwitches = end.voluntarySwitches - usage.voluntarySwitches
    }
}
