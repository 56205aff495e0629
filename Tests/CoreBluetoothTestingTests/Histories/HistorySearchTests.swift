import BluetoothEmulator
import BluetoothSupport
import Testing

@testable import CoreBluetoothTesting

@Suite struct HistorySearchTests {
    private func search(
        _ histories: RadioHistories, _ trial: @escaping @Sendable (RadioHistory) async -> HistorySearch.Trial
    ) async -> HistorySearch.Result {
        let generator = HistoryGenerator(
            seed: 3, profile: .all, rate: 3, devices: ["Store"], hosts: ["default"], names: [:],
            moments: HistoryMoments())
        return await HistorySearch(histories: histories, generator: generator, trial: trial).run()
    }

    private static func fails(_ history: RadioHistory) -> HistorySearch.Trial {
        let isBad = history.steps.contains { $0.incident == .host("default", .unplugged) }
        return HistorySearch.Trial(failures: isBad ? ["lost"] : [])
    }

    @Test func asManyHistoriesRunAsAskedFor() async {
        let count = Shared(0)
        let result = await search(.histories(150)) { _ in
            count.withLock { $0 += 1 }
            return HistorySearch.Trial()
        }
        #expect(result.count == 150)
        #expect(count.withLock { $0 } == 150)
        #expect(result.finding == nil)
    }

    @Test func theFirstHistoryThatFailsIsSimplified() async throws {
        let result = await search(.histories(1000), Self.fails)
        let finding = try #require(result.finding)
        #expect(finding.original.steps.contains { $0.incident == .host("default", .unplugged) })
        #expect(finding.simplest.steps.map(\.incident) == [.host("default", .unplugged)])
        #expect(finding.failures == ["lost"])
        #expect(finding.runs <= HistoryShrinker.limit)
    }

    @Test func theResultDoesNotDependOnTheNumberOfProcessors() async {
        let (parallel, serial) = (
            await search(.histories(1000), Self.fails), await search(.histories(1000, isParallel: false), Self.fails)
        )
        #expect(parallel.finding?.number == serial.finding?.number)
        #expect(parallel.finding?.simplest == serial.finding?.simplest)
    }

    @Test func noHistoryBeginsAfterTheTime() async {
        let count = Shared(0)
        let result = await search(.histories(within: .zero)) { _ in
            count.withLock { $0 += 1 }
            return HistorySearch.Trial()
        }
        #expect(result.count == 0)
        #expect(count.withLock { $0 } == 0)
    }
}
