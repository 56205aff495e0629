import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import Foundation
import Testing

@testable import CoreBluetoothTesting

/// The search for a planted bug: an app that repeats a write whose answer was lost.
@Suite struct HistoriesTests {
    /// Returns the messages of the issues of a test that runs under histories.
    private func issues(
        _ histories: RadioHistories, seed: UInt64, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        try await IssueCollector.issues(of: .emulator(histories, seed: seed), body)
    }

    @Test func aRepeatedWriteIsFoundAndSimplified() async throws {
        let messages = try await issues(.histories(1000), seed: 1) {
            let stored = try await RecordUploader(isCareful: false).storedRecords()
            #expect(stored == [1, 2, 3])
        }
        let message = try #require(messages.first)
        #expect(message.contains("history "))
        #expect(message.contains("COREBLUETOOTH_HISTORY="))
        #expect(message.contains("the next write is performed, but the answer"))
    }

    @Test func theEndOfIncidentsIsThatOfTheLastOneInAnyOrder() {
        let emulator = Emulator(time: .virtual)
        #expect(emulator.endOfIncidents == .zero)
        let restart = RadioHistory.Step(
            time: .seconds(6), duration: .seconds(10), incident: .host("default", .resetting))
        let lock = RadioHistory.Step(time: .seconds(7), duration: .seconds(3), incident: .device("Lock", .outOfRange))
        emulator.perform(RadioHistory(seed: 1, steps: [restart, lock]).script)
        #expect(emulator.endOfIncidents == .seconds(16))
    }

    @Test func anAdapterIsOnAtTheEndOfTheIncidents() async throws {
        let ends = Shared<Set<Duration>>([])
        let messages = try await issues(.histories(100, .flakyHost), seed: 1) {
            let emulator = Emulator.current
            _ = ends.withLock { $0.insert(emulator.endOfIncidents) }
            try await emulator.run {
                let central = Central()
                do { try await central.waitUntilPoweredOn() } catch is BluetoothError {}
                try await Task.sleep(for: emulator.endOfIncidents - emulator.now + .seconds(1))
                #expect(central.state == .poweredOn)
            }
        }
        #expect(messages.isEmpty)
        #expect(ends.withLock { $0.count } > 10)
    }

    @Test func theSameSearchHasTheSameResult() async throws {
        var results: Set<String> = []
        for _ in 1...3 {
            let messages = try await issues(.histories(1000), seed: 4) {
                let stored = try await RecordUploader(isCareful: false).storedRecords()
                #expect(stored == [1, 2, 3])
            }
            let lines = try #require(messages.first).split(separator: "\n")
            // The names of the files have numbers.
            results.insert(lines.filter { !$0.contains("/") }.joined(separator: "\n"))
        }
        #expect(results.count == 1)
    }

    @Test func aStoredHistoryRepeatsTheRunEachTime() async throws {
        let messages = try await issues(.histories(1000), seed: 2) {
            let stored = try await RecordUploader(isCareful: false).storedRecords()
            #expect(stored == [1, 2, 3])
        }
        let command = try #require(
            messages.first?.split(separator: "\n").first { $0.contains("COREBLUETOOTH_HISTORY=") })
        let file = try #require(command.split(separator: "=").last?.split(separator: " ").first)
        let plan = try HistoryPlan(contentsOfFile: String(file), for: WorldDescription())
        var courses: Set<[String]> = []
        for _ in 1...20 {
            let emulator = try Emulator(
                world: plan.world(WorldDescription()), configuration: .default, time: .virtual, seed: plan.seed)
            emulator.perform(plan.script)
            let session = EmulatorSession(emulator, named: "repetition")
            let stored = try await withTaskExecutorPreference(emulator.executor) {
                try await session.run { try await RecordUploader(isCareful: false).storedRecords() }
            }
            #expect(stored != [1, 2, 3])
            courses.insert(emulator.trace.map(\.description))
        }
        #expect(courses.count == 1)
    }

    @Test func aViolatedRuleIsFound() async throws {
        let messages = try await issues(.histories(1000), seed: 1) {
            let records = Shared<[UInt8]>([])
            try Emulator.current.add(
                EmulatedPeripheral(RecordStore.description, handler: RecordStore(records: records)))
            Emulator.current.always("no record is stored twice") { records.withLock { Set($0).count == $0.count } }
            try await Emulator.current.run { try await RecordUploader(isCareful: false).upload([1, 2, 3]) }
        }
        #expect(messages.first?.contains(": no record is stored twice") == true)
        #expect(messages.first?.contains("violated at ") == true)
    }

    @Test func aTestThatFailsWithoutIncidentsIsNotSearched() async throws {
        let runs = Shared(0)
        let messages = try await issues(.histories(1000), seed: 1) {
            runs.withLock { $0 += 1 }
            Issue.record("always")
        }
        #expect(runs.withLock { $0 } == 1)
        #expect(messages.count == 1)
        #expect(messages.first?.contains("history") == false)
    }

    @Test func aFailureThatIsNotRepeatedIsNamed() async throws {
        let runs = Shared(0)
        let messages = try await issues(.histories(50, isParallel: false), seed: 1) {
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            try await Emulator.current.advance(by: .seconds(300))
            if run == 5 { Issue.record("once") }
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("passed when it was repeated") == true)
        let events = try #require(messages.first?.components(separatedBy: "its last events were:\n").last)
        #expect((1...20).contains(events.split(separator: "\n").count), "\(events)")
        #expect(messages.first?.contains("once") == true)
    }

    @Test func theMendedAppPasses() async throws {
        let messages = try await issues(.histories(300), seed: 1) {
            let stored = try await RecordUploader(isCareful: true).storedRecords()
            #expect(stored == [1, 2, 3])
        }
        #expect(messages == [])
    }
}
