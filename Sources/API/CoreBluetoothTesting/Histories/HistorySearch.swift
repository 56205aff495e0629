import BluetoothEmulator
import BluetoothSupport
import Dispatch
import Foundation

/// The search for a history under which a test fails, and for the simplest such history.
struct HistorySearch: Sendable {
    /// The result of a run under a history.
    struct Trial: Sendable {
        /// The failures; empty if the test passed.
        var failures: [String] = []
        /// The last events of a run that failed.
        var trace: [String] = []
        var encounters: Set<HistoryCoverage.Encounter> = []
    }

    /// A history under which the test fails.
    struct Finding: Codable, Sendable {
        /// The number of the history in its search, from 1 on.
        var number: Int
        /// The history as it was generated.
        var original: RadioHistory
        var simplest: RadioHistory
        /// The failures under the simplest history.
        var failures: [String]
        /// The last events of the run with these failures.
        var trace: [String] = []
        /// The number of runs that simplified it.
        var runs: Int
        /// Whether the process ends under the history, as by a trap.
        var endsProcess = false
    }

    struct Result: Codable, Sendable {
        /// The number of histories that ran.
        var count = 0
        var coverage = HistoryCoverage()
        var finding: Finding?
        /// The real time of the search.
        var time: Duration = .zero
    }

    let histories: RadioHistories
    let generator: HistoryGenerator
    /// Runs the test under a history, and reports nothing.
    let trial: @Sendable (RadioHistory) async -> Trial

    /// Runs histories until one fails, until their number is reached, or until the time is over.
    func run() async -> Result {
        let begin = RealTime.now
        let end = histories.timeLimit.map { begin + $0 }
        var result = Result()
        var size = Self.smallestBatch
        while result.finding == nil, result.count < histories.count, end.map({ RealTime.now < $0 }) ?? true {
            // A batch is generated at once, so that the histories do not depend on the number of processors.
            let numbers = result.count + 1...result.count + min(size, histories.count - result.count)
            let batch = numbers.map { generator.history($0, after: result.coverage) }
            let trials = await trials(of: batch, until: end)
            for (index, trial) in trials.enumerated() {
                guard let trial else { continue }
                result.count += 1
                result.coverage.add(trial.encounters)
                guard !trial.failures.isEmpty, result.finding == nil else { continue }
                result.finding = await simplified(batch[index], numbers.lowerBound + index, trial)
            }
            size = min(Self.largestBatch, size * 2)
        }
        result.time = RealTime.now - begin
        return result
    }

    private static let smallestBatch = 8
    private static let largestBatch = 64

    /// Runs a batch; nil is a history that did not run because the time was over.
    private func trials(of batch: [RadioHistory], until end: Duration?) async -> [Trial?] {
        let width = histories.isParallel ? ProcessInfo.processInfo.activeProcessorCount : 1
        return await withTaskGroup(of: (Int, Trial).self) { group in
            var trials = [Trial?](repeating: nil, count: batch.count)
            for (index, history) in batch.enumerated() {
                if index >= width, let (done, trial) = await group.next() { trials[done] = trial }
                if let end, RealTime.now >= end { break }
                group.addTask { (index, await trial(history)) }
            }
            for await (done, trial) in group { trials[done] = trial }
            return trials
        }
    }

    private func simplified(_ history: RadioHistory, _ number: Int, _ failed: Trial) async -> Finding {
        var shrinker = HistoryShrinker(history)
        var failed = failed
        while let candidate = shrinker.next() {
            let found = await trial(candidate)
            guard !found.failures.isEmpty else { continue }
            shrinker.fails()
            failed = found
        }
        return Finding(
            number: number, original: history, simplest: shrinker.simplest, failures: failed.failures,
            trace: failed.trace, runs: shrinker.runs)
    }
}

/// The machine's time, which is real for the tasks of a world, too: a search may run within a test of XCTest.
private enum RealTime {
    static var now: Duration { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds)) }
}
