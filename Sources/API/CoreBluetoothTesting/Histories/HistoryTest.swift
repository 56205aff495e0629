import BluetoothEmulator
import BluetoothSupport

/// A test that runs under histories, in either testing library.
struct HistoryTest: Sendable {
    let world: WorldDescription
    let configuration: EmulatorConfiguration
    /// The seed of the search, and of the run without incidents.
    let seed: UInt64
    let name: String
    let isOfXCTest: Bool
    /// Runs the test, and returns its failures without reporting them.
    let runSilently: @Sendable (EmulatorSession) async -> [String]
    /// Runs the test, reports its failures, and returns whether there are any.
    let runReporting: @Sendable (EmulatorSession) async throws -> Bool
    /// Reports a failure of the search.
    let fail: @Sendable (String) -> Void

    /// Runs the test without incidents and then under histories, or only under the one that the environment names.
    func run(under histories: RadioHistories) async throws {
        if let file = HistoryPlan.fileOfEnvironment {
            let plan = try HistoryPlan(contentsOfFile: file, for: world)
            _ = try await runReporting(try session(plan, HistoryReport(repeating: plan, from: file)))
            return
        }
        let first = try session()
        guard try await !runReporting(first) else { return }
        let course = HistoryCourse(first.emulator)
        let search = HistorySearch(
            histories: histories, generator: course.generator(histories, seed: seed),
            trial: { await trial(HistoryPlan($0, course.devices), of: $0) })
        let result = await search.run()
        let file = HistoryFile(name)
        print(file.write(result))
        guard let finding = result.finding else { return }
        let plan = HistoryPlan(finding.simplest, course.devices)
        let report = HistoryReport(finding, seed: seed, file.write(plan, world, course.devices))
        if try await !runReporting(try session(plan, report)) { fail(report.unrepeatable(finding)) }
    }

    /// Creates the session of a run.
    private func session(_ plan: HistoryPlan? = nil, _ report: HistoryReport? = nil) throws -> EmulatorSession {
        let emulator = try Emulator(
            world: plan?.world(world) ?? world, configuration: configuration, time: .virtual, seed: plan?.seed ?? seed)
        if let plan { emulator.perform(plan.script) }
        return EmulatorSession(emulator, named: name, isOfXCTest: isOfXCTest, history: report)
    }

    private func trial(_ plan: HistoryPlan, of history: RadioHistory) async -> HistorySearch.Trial {
        do {
            let session = try session(plan)
            let failures = await runSilently(session)
            let encounters = HistoryCoverage.encounters(of: history, in: session.emulator.trace)
            return HistorySearch.Trial(failures: failures, encounters: encounters)
        } catch {
            return HistorySearch.Trial(failures: ["the world cannot be: \(error)"])
        }
    }
}
