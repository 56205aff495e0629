import BluetoothEmulator
import Synchronization

/// A test that runs under histories, in either testing library.
struct HistoryTest: Sendable {
    let world: WorldDescription
    let configuration: EmulatorConfiguration
    /// The seed of the search, and of the run without incidents.
    let seed: UInt64
    let name: String
    let isOfXCTest: Bool
    /// The child processes that catch traps; nil if the test cannot run in one.
    let process: HistoryProcess?
    /// Runs the test, and returns its failures without reporting them.
    let runSilently: @Sendable (EmulatorSession) async -> [String]
    /// Runs the test, reports its failures, and returns whether there are any.
    let runReporting: @Sendable (EmulatorSession) async throws -> Bool
    /// Reports a failure of the search.
    let fail: @Sendable (String) -> Void

    /// Runs the test without incidents and then under histories, or only under the one that the environment names.
    func run(under histories: RadioHistories) async throws {
        let histories = histories.withCountOfEnvironment
        if let child = HistoryProcess.Child.current { return try await run(under: histories, in: child) }
        if let file = HistoryPlan.fileOfEnvironment {
            let plan = try HistoryPlan(contentsOfFile: file, for: world)
            _ = try await runReporting(try session(plan, HistoryReport(repeating: plan, from: file)))
            return
        }
        let first = try session()
        guard try await !runReporting(first) else { return }
        let course = HistoryCourse(first.emulator)
        let result: HistorySearch.Result
        if histories.catchesTraps {
            guard let process else {
                return fail("histories with catchesTraps need a test of Swift Testing without arguments")
            }
            result = try await process.search()
        } else {
            result = await HistorySearch(
                histories: histories, generator: course.generator(histories, seed: seed),
                trial: { await trial($0, course) }
            ).run()
        }
        let file = HistoryFile(name)
        print(file.write(result))
        guard let finding = result.finding else { return }
        let plan = HistoryPlan(finding.simplest, course.devices)
        let stored = file.write(plan, world, course.devices)
        guard !finding.endsProcess else { return fail(HistoryReport(finding, seed: seed, [stored]).ending(finding)) }
        // The plan counts messages from the beginning.
        let repetition = try session(plan, traceLimit: 1_000_000)
        _ = await runSilently(repetition)
        let faults = HistoryFaults(finding.simplest, repetition.emulator.trace)
        let report = HistoryReport(finding, seed: seed, [stored] + file.write(faults))
        if try await !runReporting(try session(plan, report)) { fail(report.unrepeatable(finding)) }
    }

    /// Searches for a parent process, or runs the one history that it wants, and reports nothing here.
    private func run(under histories: RadioHistories, in child: HistoryProcess.Child) async throws {
        let first = try session()
        _ = await runSilently(first)
        let course = HistoryCourse(first.emulator)
        var histories = histories
        histories.isParallel = false
        let count = Atomic(0)
        let candidate = try child.candidate()
        let search = HistorySearch(histories: histories, generator: course.generator(histories, seed: seed)) {
            history in
            do {
                try child.begin(history, count.add(1, ordering: .relaxed).newValue)
            } catch {
                return HistorySearch.Trial(failures: ["the history is not stored: \(error)"])
            }
            return await trial(history, course)
        }
        guard let candidate else { return try child.end(await search.run()) }
        let repetition = await search.trial(candidate)
        try child.end(
            HistorySearch.Result(
                count: 1,
                finding: repetition.failures.isEmpty
                    ? nil
                    : HistorySearch.Finding(
                        number: 1, original: candidate, simplest: candidate, failures: repetition.failures,
                        trace: repetition.trace, runs: 0)))
    }

    /// Creates the session of a run.
    private func session(
        _ plan: HistoryPlan? = nil, _ report: HistoryReport? = nil, traceLimit: Int? = nil
    ) throws -> EmulatorSession {
        var configuration = configuration
        if let traceLimit { configuration.traceLimit = traceLimit }
        let emulator = try Emulator(
            world: plan?.world(world) ?? world, configuration: configuration, time: .virtual, seed: plan?.seed ?? seed)
        if let plan { emulator.perform(plan.script) }
        return EmulatorSession(emulator, named: name, isOfXCTest: isOfXCTest, history: report)
    }

    /// The number of events of a failed run that are retained.
    private static let lastEvents = 20

    private func trial(_ history: RadioHistory, _ course: HistoryCourse) async -> HistorySearch.Trial {
        do {
            let session = try session(HistoryPlan(history, course.devices))
            let failures = await runSilently(session)
            let encounters = HistoryCoverage.encounters(
                of: history, in: HistoryMoments(session.emulator.centralMessages))
            let trace = failures.isEmpty ? [] : session.emulator.trace.suffix(Self.lastEvents).map(\.description)
            return HistorySearch.Trial(failures: failures, trace: trace, encounters: encounters)
        } catch {
            return HistorySearch.Trial(failures: ["the world cannot be: \(error)"])
        }
    }
}
